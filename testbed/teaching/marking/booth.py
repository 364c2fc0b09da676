"""Booth: where one answer is played: a process of its own, watched from outside until it is gone.

The process begins from nothing, in an empty folder of its own, in a session of its own, with an
environment that holds only where Python finds the testbed. It is killed with all that it has
started: once it has told its result, once it prints or writes too much, or once its time is up.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from select import select
from typing import IO, Any

import attrs

from testbed.child import child_command
from testbed.errors import HarnessBug
from testbed.objects.codec import decode, encode
from testbed.teaching.marking.limits import RESULT_BYTES, BoothLimits
from testbed.teaching.marking.mark import FAILED
from testbed.teaching.marking.seal import KEY_BYTES, READY, opened
from testbed.world.users_code import OWN_LEVELS

MODULE = "testbed.teaching.marking.sitting"
AT_ONCE = 1 << 16
KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR")
"""The names that Windows needs in the environment of a process."""
LOOKS_S = 0.2
"""How often it is looked whether a pipe that says nothing can still say something."""
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
        key = secrets.token_bytes(KEY_BYTES)
        task = {
            "level": level, "text": text.decode("latin-1"), "seed": seed, "key": key.hex(),
            "limits": attrs.asdict(self.limits),
        }  # fmt: skip
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            why, told, code = self._run(encode(task), folder)
        if why:
            return {"mark": FAILED, "reason": why}
        told = told.removeprefix(READY)
        message = opened(key, told)
        if message is not None:
            result: dict[str, Any] = decode(message)
            return result
        if code == -getattr(signal, "SIGXCPU", 0) != 0:
            spent = f"it used more than {self.limits.seconds} s of processor time"
            return {"mark": FAILED, "reason": spent}
        wrote = "it wrote a result of its own" if told else "it ended its process"
        return {"mark": FAILED, "reason": wrote}

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

    def _run(self, task: bytes, folder: str) -> tuple[str, bytes, int]:
        """Why it was ended, if it was; what it told; its exit code."""
        self._is_over = False
        process = self._process = subprocess.Popen(
            child_command(self.module), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=folder, env=_environment(), bufsize=0,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        printed_max = self.limits.printed_bytes
        with process.stdout as out, process.stderr as err, ThreadPoolExecutor(2) as readers:
            result = readers.submit(self._read, out, RESULT_BYTES)
            printed = readers.submit(self._read, err, printed_max)
            with suppress(BrokenPipeError), process.stdin as asked:
                asked.write(task)
            late = bool(wait((result, printed), self.limits.wall_s).not_done)
            self.kill()
            code = process.wait(GONE_S)
            self._is_over = True
        if late and result.result():
            return f"it did not end within {self.limits.wall_s:g} s", b"", code
        if not result.result().startswith(READY):
            raise HarnessBug(_not_started(printed.result()))
        if len(printed.result()) > printed_max:
            return f"it printed more than {printed_max:,} bytes", b"", code
        return "", result.result(), code

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


def _not_started(printed: bytes) -> str:
    """What to say if the process ended before the answer had its turn."""
    last = printed.decode(errors="replace").strip().rpartition("\n")[2] or "it said nothing"
    return f"the process in which an answer is checked does not begin: {last}"


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
