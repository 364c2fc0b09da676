"""Booth: where one answer is played: a process of its own, watched from outside until it is gone.

The process begins from nothing, in an empty folder of its own, in a session of its own, with an
environment that holds only where Python finds the testbed. It is killed with all that it has
started: once it has told its result, once it prints or writes too much, or once nothing of it does
anything any more. That last is no mark: it is not decided.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from select import select
from time import monotonic
from typing import IO, Any

import attrs

from testbed.child import child_command
from testbed.errors import HarnessBug
from testbed.objects.codec import decode, encode
from testbed.teaching.marking.limits import BoothLimits
from testbed.teaching.marking.mark import FAILED, NOT_DECIDED
from testbed.teaching.marking.seal import READY
from testbed.world.users_code import OWN_LEVELS

MODULE = "testbed.teaching.marking.sitting"
AT_ONCE = 1 << 16
MARK_BYTES = 1 << 20
"""What a process may tell of an answer."""
KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR")
"""The names that Windows needs in the environment of a process."""
LOOKS_S = 0.2
"""How often it is looked whether a pipe that says nothing can still say something."""
ASLEEP = ("S", "Z", "T", "X")
"""The states of a process that is not ready to run: it sleeps, has ended, or was stopped."""
GONE_S = 10
"""How long a process that was killed may take to be gone."""


@attrs.define(eq=False)
class Booth:
    """One process at a time in which an answer is played."""

    limits: BoothLimits
    module: str = MODULE
    """What runs there."""
    _process: subprocess.Popen[bytes] | None = None
    _is_over: bool = False
    """Whether that process is gone."""

    def mark(self, level: int, text: bytes, seed: int) -> dict[str, Any]:
        """Play that answer; returns what the process told of it, or why it told nothing."""
        task = {
            "level": level, "text": text.decode("latin-1"), "seed": seed,
            "limits": attrs.asdict(self.limits),
        }  # fmt: skip
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            why, told = self._run(encode(task), folder)
        if why is not None:
            return why
        result: dict[str, Any] = decode(told.removeprefix(READY))
        return result

    @property
    def last_pid(self) -> int | None:
        """The number of the process that was started last, and of its group; None before."""
        return None if self._process is None else self._process.pid

    def kill(self) -> None:
        """Kill the process, and all that it has started. It may be called from another thread."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(OSError):
            if os.name == "posix":
                # It is not waited for yet, so its number cannot be another's.
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    def _run(self, task: bytes, folder: str) -> tuple[dict[str, Any] | None, bytes]:
        """The mark by which it was ended, if it was; and what it told."""
        self._is_over = False
        process = self._process = subprocess.Popen(
            child_command(self.module), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=folder, env=_environment(), bufsize=0,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        printed_max, vigil = self.limits.printed_bytes, Vigil(process.pid, self.limits)
        with process.stdout as out, process.stderr as err, ThreadPoolExecutor(2) as readers:
            result = readers.submit(self._read, out, MARK_BYTES)
            printed = readers.submit(self._read, err, printed_max)
            with suppress(BrokenPipeError), process.stdin as asked:
                asked.write(task)
            while wait((result, printed), LOOKS_S).not_done and not vigil.is_in_vain():
                continue
            self.kill()
            process.wait(GONE_S)
            self._is_over = True
        told = result.result()
        if not told.startswith(READY) and not vigil.why:
            raise HarnessBug(_not_started(printed.result()))
        if len(printed.result()) > printed_max:
            return {"mark": FAILED, "reason": f"it printed more than {printed_max:,} bytes"}, b""
        if vigil.why:
            return {"mark": NOT_DECIDED, "reason": vigil.why}, b""
        if told == READY:
            last = _last_line(printed.result())
            raise HarnessBug(f"the process in which an answer is checked ends: {last}")
        return None, told

    def _read(self, pipe: IO[bytes], most: int) -> bytes:
        """Read until the pipe ends, or until more than the most has come; then kill what writes. A
        process that got away may hold the pipe open: once the one that was started is gone, nothing
        more is waited for."""
        found = bytearray()
        while len(found) <= most:
            if os.name == "posix" and not select([pipe], [], [], LOOKS_S)[0]:
                if self._is_over:
                    break
                continue
            more = pipe.read(AT_ONCE)
            if not more:
                break
            found += more
        if len(found) > most:
            self.kill()
        return bytes(found)


class Vigil:
    """A watch over the processes of one answer: whether they still do anything."""

    def __init__(self, group: int, limits: BoothLimits) -> None:
        self.why = ""
        """Why nothing more is waited for; empty as long as it is."""
        self._group = group
        self._limits = limits
        self._began_s = self._awake_s = monotonic()
        self._used = -1

    def is_in_vain(self) -> bool:
        """Whether to wait any longer is in vain. A process that is ready to run does something, as
        soon as the machine lets it; only one that sleeps and uses no time does not."""
        now_s = monotonic()
        used = time_used(self._group)
        if used is None or used != self._used:
            self._awake_s, self._used = now_s, -1 if used is None else used
        for limit_s, since_s, what in (
            (self._limits.idle_s, self._awake_s, "it waits for something that does not come"),
            (
                self._limits.wall_s,
                self._began_s,
                f"it did not end within {self._limits.wall_s:g} s",
            ),
        ):
            if now_s - since_s > limit_s:
                self.why = f"it could not be decided on this machine: {what}"
        return bool(self.why)


def time_used(group: int) -> int | None:
    """The processor time that all processes of that group have used, in ticks; None if it cannot be
    told, or if one of them is ready to run."""
    used: int | None = None
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # Behind the name, which may hold anything, come the state, the parent and the group.
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                if fields[0] not in ASLEEP:
                    return None
                used = (used or 0) + int(fields[11]) + int(fields[12])
    return used


def _not_started(printed: bytes) -> str:
    """What to say if the process ended before the answer had its turn."""
    return f"the process in which an answer is checked does not begin: {_last_line(printed)}"


def _last_line(printed: bytes) -> str:
    said = printed.decode(errors="replace").strip().rpartition("\n")[2]
    return said or "it said nothing"


def _environment() -> dict[str, str]:
    """Nothing of this process but where Python finds what it imports."""
    ours = Path(__file__).resolve().parents[3]
    # In the current folder there may be another level_1.py, which would be imported.
    found = [Path(folder).resolve() for folder in sys.path if folder]
    folders = [*(str(each) for each in found if each != Path.cwd().resolve()), str(ours)]
    own = os.environ.get(OWN_LEVELS)
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        **({OWN_LEVELS: os.path.abspath(own)} if own else {}),
        "PYTHONPATH": os.pathsep.join(folders), "PYTHONHASHSEED": "0", "PYTHONUTF8": "1",
        "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
