"""Keeper: runs one real program, and sees to it that nothing of it is left.

    python -m testbed.attended.keeper COMMAND [ARGUMENT…]

The testbed holds the other end of this process's standard input. When that closes, because the
program is to be killed or because the testbed itself was killed, the keeper kills the program and
all that it has started, also what has moved to another session or process group. If the program
ends by itself, the keeper kills what that has left behind, and ends with the same code. What the
program writes is passed on to this process's standard output, up to a limit.

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
OUTPUT_BYTES_MAX = 64 << 20
"""How much of the output is kept, that of earlier lives included."""
END_BYTES = 64 << 10
"""How much of its end is kept besides."""
LEFT_OUT = f"\n… more than {OUTPUT_BYTES_MAX >> 20} MB: the testbed leaves out what was said here\n"


def keep(command: list[str]) -> int:
    """Run the command until it ends or the standard input closes; returns its exit code."""
    _option(SET_CHILD_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Ctrl-C is the testbed's to handle, and it ends the program by closing the pipe.
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    said, says = os.pipe()
    try:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=says, stderr=says,
            preexec_fn=_die_with_keeper,
        )  # fmt: skip
    except OSError as error:
        sys.stderr.write(f"{command[0]}: cannot be started: {error.strerror}\n")
        return NOT_FOUND
    os.close(says)
    output = Output(said)
    code = _until_over(program, woken, output)
    program.kill()
    kill_all_below("self")
    output.end()
    return code


def _until_over(program: subprocess.Popen[bytes], woken: int, output: Output) -> int:
    """Pass on what the program writes, until it ends or is to be killed; returns its exit code."""
    poller = select.poll()
    for descriptor in (0, woken, output.source):
        poller.register(descriptor, select.POLLIN | select.POLLHUP)
    while True:
        for descriptor, _ in poller.poll():
            if descriptor == output.source:
                if not output.copy():
                    poller.unregister(output.source)
            elif descriptor == 0:
                if not os.read(0, 512):
                    return -signal.SIGKILL
            elif {*os.read(woken, 512)} - {signal.SIGCHLD, signal.SIGINT}:
                return -signal.SIGKILL
            elif (code := _reaped(program.pid)) is not None:
                return code


def _reaped(pid: int) -> int | None:
    """Await what has ended, also what this process has adopted; the exit code of that one, if it is
    among them."""
    code = None
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == pid:
                code = os.waitstatus_to_exitcode(found[1])
    return code


class Output:
    """What the program writes: its beginning and its end are kept, so that no disk is filled."""

    def __init__(self, source: int) -> None:
        self.source = source
        self._room = max(0, OUTPUT_BYTES_MAX - os.fstat(1).st_size)
        self._end = b""
        """The last that was said and had no room; it is written when nothing follows."""

    def copy(self) -> bool:
        """Take what has been written; False if nothing more will be."""
        data = os.read(self.source, 1 << 16)
        room, self._room = self._room, max(0, self._room - len(data))
        _write(data[:room])
        if len(data) > room:
            if not self._end:
                _write(LEFT_OUT.encode())
            self._end = (self._end + data[room:])[-END_BYTES:]
        return bool(data)

    def end(self) -> None:
        """Take what is left. No process can write any more."""
        os.set_blocking(self.source, False)
        with suppress(BlockingIOError):
            while self.copy():
                pass
        _write(self._end)


def _write(data: bytes) -> None:
    # On a full disk the program goes on, and its output is lost.
    with suppress(OSError):
        os.write(1, data)


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
    """Kill and await all descendants of this process."""
    while found := descendants(pid):
        for each in found:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        # What was started meanwhile is adopted by this process, and lives on until the next round:
        # so wait for one, and for no more than have ended.
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _children(pid: int | str) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                suppress(OSError),
                open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file,
            ):
                found += map(int, file.read().split())
    return found


def _option(option: int, value: int) -> None:
    """Set an option of this process; where there is none such, only the program itself is killed
    with the keeper, and what it has started is not."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _die_with_keeper() -> None:
    _option(SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    ended = keep(sys.argv[1:])
    sys.exit(128 - ended if ended < 0 else ended)
