"""Sitting: the process in which one answer is checked, part by part; it runs none of it itself.

1. It reads what to check from its standard input, which then ends.
2. It imports all that a check needs, and plays a few Runs of the careless program, so that each
   part finds all of it ready.
3. It plays each trial in a process of its own (`part`), until one does not hold.
4. If all have held, it has them played again, and each life of the answer alone.
5. It writes the mark to what was its standard output.

The parts are forked from this process. Where that cannot be done, each begins from nothing.
"""

from __future__ import annotations

import gc
import math
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from testbed.child import child_command
from testbed.errors import HarnessBug
from testbed.objects.codec import decode, encode
from testbed.policy import BUILT_IN
from testbed.teaching.checking import staged, try_trial
from testbed.teaching.ladder import level_of
from testbed.teaching.level import LearnLevel
from testbed.teaching.marking.guard import readable_folders
from testbed.teaching.marking.intact import remembered
from testbed.teaching.marking.limits import RESULT_BYTES, BoothLimits, resident_mb
from testbed.teaching.marking.mark import FAILED, NOT_DECIDED, PASSED
from testbed.teaching.marking.part import AGAIN, ALONE, NEARLY, TRIAL, CheckPart, as_read, be_part
from testbed.teaching.marking.seal import KEY_BYTES, READY, opened, sealer
from testbed.turns import watchdog
from testbed.world.users_code import levels_package

AT_ONCE = 1 << 16
MODULE = "testbed.teaching.marking.sitting"
SPAWNED = "part"
"""The argument with which the module is one part, where a process cannot be forked."""
FORKS = sys.platform == "linux"
"""Whether parts are forked; other systems have libraries that do not survive it."""


def main() -> None:
    """Check the answer that standard input names, or play the one part that it names."""
    answers, told = os.dup(1), sys.stdin.buffer.read()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # what is printed is only counted
    task = decode(told)
    sys.dont_write_bytecode = True
    level = level_of(task["level"])
    limits = BoothLimits(**task["limits"])
    # An answer that sleeps is let be: that it hangs is found from outside, and then nothing is
    # decided.
    watchdog.SECONDS, watchdog.HANGS_S = limits.turn_s, math.inf
    file = Path.cwd().resolve() / level.file
    folders = tuple(readable_folders(str(file.parent), *levels_package().__path__))
    part = CheckPart(
        level=level, file=file, seed=task["seed"], limits=limits, folders=folders,
        kind=task.get("kind", TRIAL), trial=task.get("trial", 0),
        runs=bytes.fromhex(task.get("runs", "")), life=tuple(task.get("life", ("", 0))),
    )  # fmt: skip
    if sys.argv[1:] == [SPAWNED]:
        be_part(part, remembered(), answers, sealer(bytes.fromhex(task["key"])))
    file.write_bytes(task["text"].encode("latin-1"))
    if FORKS:
        _warm_up(level)
    os.write(answers, READY)
    mark = encode(Sitting(part, answers, remembered()).mark())
    while mark:
        mark = mark[os.write(answers, mark) :]


def _warm_up(level: LearnLevel) -> None:
    """Play some Runs of the careless program, and forget them. What that has loaded and worked out
    need not be worked out again in each part."""
    try_trial(staged(level, level.trials[0], BUILT_IN, 0), level.trials[0], BUILT_IN)
    gc.collect()
    gc.freeze()


@attrs.frozen(kw_only=True)
class PartResult:
    """What one part has told."""

    result: dict[str, Any] = attrs.field(factory=dict)
    more: bytes = b""
    """What it hands on to other parts."""

    @property
    def is_over(self) -> bool:
        """Whether the answer has its mark by that."""
        return "mark" in self.result


class Sitting:
    """The check of one answer, part by part."""

    def __init__(self, part: CheckPart, answers: int, changed: Callable[[], str]) -> None:
        self._part = part
        self._answers = answers
        """Where the mark goes; closed in each part."""
        self._changed = changed

    def mark(self) -> dict[str, Any]:
        """Play all parts until the mark is known; return it."""
        runs = 0
        kept: list[str] = []
        held: list[bytes] = []
        for number in range(len(self._part.level.trials)):
            told = self._play(kind=TRIAL, trial=number)
            runs += told.result.get("runs", 0)
            kept = kept or told.result.get("kept", [])
            if told.is_over:
                return {**told.result, "runs": runs, "kept": kept}
            held.append(told.more)
        for number, more in enumerate(held):
            again = self._play(kind=AGAIN, trial=number, runs=more)
            for told in (again, *self._alone(number, again)):
                if told.is_over:
                    return {**told.result, "runs": runs, "kept": kept}
        return {"mark": PASSED, "runs": runs, "kept": kept}

    def _alone(self, trial: int, again: PartResult) -> Iterator[PartResult]:
        """Play each life alone that there was in the Runs of that trial."""
        begin = 0
        for name, number, length in again.result.get("lives", ()):
            runs = again.more[begin : begin + length]
            begin += length
            yield self._play(kind=ALONE, trial=trial, runs=runs, life=(name, number))

    def _play(self, **what: Any) -> PartResult:
        """Play one part in a process of its own; return what it has told, or why it told
        nothing."""
        part, key = attrs.evolve(self._part, **what), secrets.token_bytes(KEY_BYTES)
        told, code, spent_s, used_mb = (self._forked if FORKS else self._spawned)(part, key)
        if not told.startswith(READY):
            raise HarnessBug(f"a part of the check does not begin: it ended with {code}")
        told = told.removeprefix(READY)
        message = opened(key, told)
        if message is not None:
            result, more = as_read(message)
            return PartResult(result=result, more=more)
        seconds = part.limits.seconds
        if code == -getattr(signal, "SIGXCPU", 0) != 0 or spent_s >= seconds:
            reason = f"it used more than {seconds} s of processor time"
            return PartResult(result={"mark": FAILED, "reason": reason})
        if used_mb > part.limits.memory_mb * NEARLY:
            reason = f"it used more than {part.limits.memory_mb} MB of memory"
            return PartResult(result={"mark": FAILED, "reason": reason})
        if code == -getattr(signal, "SIGKILL", 0) != 0:
            # The system kills whatever it likes if it has too little memory for all that runs.
            reason = "the system has killed its process"
            return PartResult(result={"mark": NOT_DECIDED, "reason": reason})
        wrote = "it wrote a result of its own" if told else "it ended its process"
        return PartResult(result={"mark": FAILED, "reason": wrote})

    def _forked(self, part: CheckPart, key: bytes) -> tuple[bytes, int, float, int]:
        """What it has told, its exit code, its processor time, and its memory in MB."""
        before_mb, (out, into) = resident_mb(), os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(out)
                os.close(self._answers)
                be_part(part, self._changed, into, sealer(key))
            except BaseException:  # noqa: BLE001 - it does not begin, and says why
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(1)
        os.close(into)
        told = bytearray()
        with os.fdopen(out, "rb", buffering=0) as pipe:
            while len(told) <= RESULT_BYTES and (more := pipe.read(AT_ONCE)):
                told += more
        # It is not waited for yet, so its number cannot be another's.
        if len(told) > RESULT_BYTES:
            os.kill(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
        spent_s, most_mb = used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
        return bytes(told), os.waitstatus_to_exitcode(status), spent_s, most_mb - before_mb

    def _spawned(self, part: CheckPart, key: bytes) -> tuple[bytes, int, float, int]:
        """The same, of a process that begins from nothing."""
        task = {
            "level": part.level.number, "seed": part.seed, "limits": attrs.asdict(part.limits),
            "kind": part.kind, "trial": part.trial, "runs": part.runs.hex(), "life": part.life,
            "key": key.hex(),
        }  # fmt: skip
        done = subprocess.run(
            [*child_command(MODULE), SPAWNED],
            input=encode(task), stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        return done.stdout, done.returncode, 0.0, 0


if __name__ == "__main__":
    main()
