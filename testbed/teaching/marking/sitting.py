"""Sitting: the process in which one answer is checked, and what it does before and after.

1. It reads what to check, and the key, from its standard input, which then ends.
2. It imports all that a check needs. Later there may be nothing left to read it from.
3. It takes its limits, then lets the kernel, then Python refuse what a check does not need.
4. It plays the check; only now is the answer loaded.
5. It signs what came of it, writes that to what was its standard output, and ends at once, so that
   nothing the answer has left behind runs any more. It also ends so at what the guard catches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from testbed.errors import HarnessError
from testbed.objects.codec import decode, encode
from testbed.teaching.checking import check
from testbed.teaching.ladder import level_of
from testbed.teaching.level import LearnLevel
from testbed.teaching.marking.guard import readable_folders, stand_guard
from testbed.teaching.marking.intact import remembered
from testbed.teaching.marking.kernel import confine
from testbed.teaching.marking.limits import BoothLimits, impose, used_mb
from testbed.teaching.marking.mark import FAILED, PASSED, REFUSED, in_a_line
from testbed.teaching.marking.seal import READY, sealer
from testbed.turns import watchdog
from testbed.world.users_code import levels_package

NEARLY = 3 / 4
"""An answer that has used this part of its memory is taken to have run out of it."""
CHANGED = "it tried to change {}"
RACE_MAX = 100_000
GUARD = "Python's own guard"


class NotOurs(Exception):
    """Something of the testbed is not what it was."""


def main() -> None:
    """Check the answer that standard input names."""
    answers, told = os.dup(1), sys.stdin.buffer.read()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # what is printed is only counted
    task = decode(told)
    seal = sealer(bytes.fromhex(task.pop("key")))
    del told
    _sit(task, answers, seal)


def _sit(task: dict[str, Any], answers: int, seal: Callable[[bytes], bytes]) -> NoReturn:
    level = level_of(task["level"])
    file = Path.cwd().resolve() / level.file
    file.write_bytes(task["text"].encode("latin-1"))
    sys.dont_write_bytecode = True
    folders = readable_folders(str(file.parent), *levels_package().__path__)
    limits = BoothLimits(**task["limits"])
    watchdog.SECONDS = limits.turn_s
    changed = remembered()
    kept = [*impose(limits), *confine(folders), GUARD]
    end = _ender(answers, seal)
    spent = encode({"mark": FAILED, "reason": f"it used more than {limits.memory_mb} MB of memory"})

    def caught(words: str) -> NoReturn:
        end(encoded({"mark": REFUSED, "reason": f"it tried to {words}", "kept": kept}))

    encoded, line = encode, in_a_line
    os.write(answers, READY)
    stand_guard(str(file), folders, caught)
    try:
        result = played(level, file, task["seed"], limits.memory_mb, changed)
        if what := changed():
            result = {"mark": REFUSED, "reason": line(CHANGED.format(what))}
        message = encoded({**result, "kept": kept})
    except MemoryError:
        message = spent
    end(message)


def _ender(answers: int, seal: Callable[[bytes], bytes]) -> Callable[[bytes], NoReturn]:
    """The function that tells the result and ends the process. What the answer could replace is
    looked up now, before the answer is there."""
    write, leave = os.write, os._exit

    def end(message: bytes) -> NoReturn:
        rest = seal(message)
        while rest:
            rest = rest[write(answers, rest) :]
        leave(0)

    return end


def played(
    level: LearnLevel, file: Path, seed: int, memory_mb: int, changed: Callable[[], str]
) -> dict[str, Any]:
    """Check that file; returns the mark, the reason, the trial, the Runs and the race. The check
    ends early if, after a Run, the memory has run out or something of ours has changed."""
    enough_mb = used_mb() + memory_mb * NEARLY

    def look(_: str, run: int) -> None:
        # The answer has died of it. To make its race small would take long, and show no more.
        if used_mb() > enough_mb:
            raise MemoryError
        if run == 1 and (what := changed()):
            raise NotOurs(what)

    try:
        checked = check(level, file, seed=seed, on_run=look)
        if what := changed():
            raise NotOurs(what)
    except NotOurs as error:
        return {"mark": REFUSED, "reason": in_a_line(CHANGED.format(error))}
    except MemoryError:
        raise
    except HarnessError as error:
        # The first line says what is wrong; the others say what to do next.
        said = str(error).partition("\n")[0]
        return {"mark": FAILED, "reason": in_a_line(said, file.parent)}
    except KeyboardInterrupt:
        return {"mark": FAILED, "reason": "it raised KeyboardInterrupt"}
    except BaseException as error:  # noqa: BLE001 - whatever an answer raises, it is its own
        what = f"it raised {type(error).__name__}: {error}"
        return {"mark": FAILED, "reason": in_a_line(what, file.parent)}
    refused = checked.refused
    if refused is None:
        return {"mark": PASSED, "runs": checked.runs}
    if "MemoryError" in refused.said:
        raise MemoryError
    said = in_a_line(refused.said.partition("\nNext:")[0], file.parent)
    race = refused.race if len(refused.race) <= RACE_MAX else ""
    return {
        "mark": REFUSED, "reason": said, "trial": refused.name, "runs": checked.runs, "race": race,
    }  # fmt: skip


if __name__ == "__main__":
    main()
