"""Keeper: runs one real program, and sees to it that nothing of it is left.

    python -m testbed.attended.keeper COMMAND [ARGUMENT…]

The testbed holds the other end of this process's standard input. When that closes, because the
program is to be killed or because the testbed itself was killed, the keeper kills the program and
all that it has started, also what has moved to another session or process group. If the program
ends by itself, the keeper kills what that has left behind, and ends with the same code.

It imports nothing of the testbed, so that it starts at once.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

SET_CHILD_SUBREAPER, SET_PDEATHSIG = 36, 1
"""What Linux calls these options of `prctl`."""
NOT_FOUND = 127
"""The exit code of a shell that cannot find a command."""


def keep(command: list[str]) -> int:
    """Run the command until it ends or the standard input closes; returns its exit code."""
    _option(SET_CHILD_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Ctrl-C is the testbed's to handle, and it ends the program by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, preexec_fn=_die_with_keeper, restore_signals=True
        )
    except OSError as error:
        sys.stderr.write(f"{command[0]}: cannot be started: {error.strerror}\n")
        return NOT_FOUND
    poller = select.poll()
    poller.register(0, select.POLLIN | select.POLLHUP)
    poller.register(woken, select.POLLIN)
    code = None
    while code is None:
        for descriptor, _ in poller.poll():
            if descriptor == woken:
                os.read(woken, 512)
                code = program.poll()
            elif not os.read(0, 512):
                code = -signal.SIGKILL
    kill_all_below("self")
    return code


def descendants(pid: int | str) -> list[int]:
    """The processes that this one has started, and those that these have started, parents first."""
    found: list[int] = []
    todo: list[int | str] = [pid]
    while todo:
        children = _children(todo.pop())
        found += children
        todo += children
    return found


def kill_all_below(pid: int | str) -> None:
    """Kill and await all descendants of this process. Whatever they start meanwhile is adopted by
    this process, and killed as well."""
    while found := descendants(pid):
        for each in found:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, 0)[0]:
                pass


def _children(pid: int | str) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def _option(option: int, value: int) -> None:
    """Set an option of this process; where there is none such, only the program itself is killed
    with the keeper, and what it has started is not."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _die_with_keeper() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _option(SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    ended = keep(sys.argv[1:])
    sys.exit(128 - ended if ended < 0 else ended)
