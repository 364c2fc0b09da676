"""child: how the testbed starts another Python process of its own, and speaks with it.

A Child that is *forked* is this process once more: it has imported and assembled what this one has,
so it starts at once. One that is *spawned* begins from nothing, which takes as long as a hundred
Runs, but works everywhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, NoReturn

import attrs

Serve = Callable[[IO[bytes], IO[bytes]], object]
"""What a Child does with its two pipes: what it is asked comes from one, its answers go to another.
"""
PIPE_BYTES = 1 << 16
_fork: Callable[[], int] | None = getattr(os, "fork", None)
"""None on a system that has no such thing."""


def child_command(module: str) -> list[str]:
    """The command that runs a module of ours in another process, without its arguments.

    -P keeps the current folder from the front of its path. There, any file of the user's with the
    name of an installed module would be imported instead of it.
    """
    return [sys.executable, "-P", "-m", module]


def child_env(**more: str) -> dict[str, str]:
    """The environment of that process: it can import what this one can, in the same order.

    If this one looks in the current folder, the other one does so last. It moves to the front when
    a scenario of the user's own is looked for, as it did in this process.
    """
    folders = [folder for folder in sys.path if folder] + [os.getcwd()] * ("" in sys.path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), **more}


@attrs.frozen
class Jobs:
    """In how many processes some work may be done."""

    most: int = 1
    """How many, at most; 1: this one alone."""
    alone_s: float = 0.0
    """How long it is done in this one first: what is soon done is not worth another."""


IN_ONE = Jobs()


def can_fork() -> bool:
    """Whether this process may be forked: a fork has only the thread that forks, and what another
    one of Python holds stays locked in it for ever. Threads of a library, such as numpy's, are
    stopped by that library. Other systems than Linux have libraries that do not."""
    return sys.platform == "linux" and len(sys._current_frames()) == 1


@attrs.define(eq=False)
class Child:
    """A process of ours, with a pipe to it and one from it. It ends when the pipe to it is closed,
    and so never outlives this process."""

    pid: int
    to: int
    """Where this process writes."""
    out: int
    """Where this process reads."""
    _spawned: subprocess.Popen[bytes] | None = None

    def send(self, message: bytes) -> None:
        """Write it whole. If the Child is gone, that shows when it is read from."""
        rest = memoryview(message)
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self.to, rest) :]

    def receive(self) -> bytes:
        """Return some bytes that have come; none if it is gone and has said all."""
        return os.read(self.out, PIPE_BYTES)

    def is_gone(self) -> bool:
        """Whether it has ended."""
        if self._spawned is not None:
            return self._spawned.poll() is not None
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, how) is not None

    def spent_s(self) -> float:
        """Return the processor time that it has spent; where no system tells it, the wall time."""
        # As clock_getcpuclockid(3) makes the clock of a process on Linux; Python has only the one
        # of a thread.
        clock = ~self.pid << 3 | 2
        try:
            return time.clock_gettime(clock) if sys.platform == "linux" else time.monotonic()
        except OSError:
            return time.monotonic()

    def end(self) -> int:
        """Kill it if it still runs; return its exit code, which is negative for a signal."""
        if self._spawned is not None:
            self._spawned.kill()
            code = self._spawned.wait()
        else:
            # A process that has ended is still there until it is waited for.
            os.kill(self.pid, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        for end in (self.to, self.out):
            os.close(end)
            _held.discard(end)
        return code


_held: set[int] = set()
"""The ends of all pipes to and from the Children of this process."""


def _fork_unheard(fork: Callable[[], int]) -> tuple[int, set[int | signal.Signals]]:
    """Fork while no Ctrl-C is heard; return the process id, and what is to be heard again."""
    # Around a fork Python calls what modules have registered, and swallows what is raised there, a
    # Ctrl-C, too. So it has to wait.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return fork(), mask
    except OSError:  # there may be no more processes
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise


def _be_child(
    serve: Serve,
    name: str,
    asked: int,
    answers: int,
    theirs: tuple[int, int],
    mask: set[int | signal.Signals],
) -> NoReturn:
    """Serve, and end without doing anything that its parent has still to do."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.setsid()
        # The pipe of another Child would stay open for as long as this one lives.
        for end in (*_held, *theirs):
            os.close(end)
        _held.clear()
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        sys.argv = [name]
        with os.fdopen(asked, "rb") as given, os.fdopen(answers, "wb") as told:
            serve(given, told)
        code = 0
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    except BaseException:  # noqa: BLE001 - whatever it is, it goes no further
        sys.excepthook(*sys.exc_info())
    finally:
        # Not by an exception: what its parent does at its end is not for the Child to do.
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def forked(serve: Serve, name: str) -> Child:
    """Fork this process; the Child calls `serve` with its two pipes, and ends when that returns.

    It has a session of its own, so that Ctrl-C reaches this process alone. What it prints goes to
    standard error. `name` is its `sys.argv[0]`, as it is of one that is spawned.
    """
    assert _fork is not None
    # What is buffered here now would be written by both.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    asked, to = os.pipe()
    out, answers = os.pipe()
    try:
        pid, mask = _fork_unheard(_fork)
    except OSError:
        for end in (asked, to, out, answers):
            os.close(end)
        raise
    if pid == 0:
        _be_child(serve, name, asked, answers, (to, out), mask)
    os.close(asked)
    os.close(answers)
    _held.update((to, out))
    child = Child(pid, to, out)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    except BaseException:  # a Ctrl-C that had to wait: nobody else knows of the Child yet
        child.end()
        raise
    return child


def spawned(module: str) -> Child:
    """Start a module of ours in a session of its own, with pipes as its standard streams."""
    process = subprocess.Popen(
        child_command(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_env(),
        bufsize=0,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    to, out = (os.dup(pipe.fileno()) for pipe in (process.stdin, process.stdout))
    process.stdin.close()
    process.stdout.close()
    _held.update((to, out))
    return Child(process.pid, to, out, process)
