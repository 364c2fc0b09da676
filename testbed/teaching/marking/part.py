"""Part: one part of a check, in a process of its own in which no other part was ever played.

There are three kinds of parts. Each reads the answer anew, and none finds what another has left:

- `trial` plays one trial, and hands on how each Run of it was chosen.
- `again` plays these Runs once more, in the opposite order; they must end as they did. It hands on
  what each turn was.
- `alone` plays one life of the answer in these Runs without any other (`testbed.teaching.alone`).

What a part does before and after:

1. It takes its limits, then lets the kernel, then Python refuse what a check does not need.
2. It plays; only now is the answer loaded.
3. It signs what came of it, writes that to its pipe, and ends at once, so that nothing the answer
   has left behind runs any more. It also ends so at what the guard catches.

What is handed on is pickled. Only another part of the same answer reads it, and that is guarded
like this one.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import attrs

from testbed.errors import HarnessBug, HarnessError, Overrun
from testbed.objects.codec import decode, encode
from testbed.teaching.alone import noted_again, play_alone, runs_of
from testbed.teaching.answer import answering
from testbed.teaching.checked import HELD, TriedTrial
from testbed.teaching.checking import is_raised_by, staged, try_trial, unlike
from testbed.teaching.level import LearnLevel
from testbed.teaching.looks import Stage
from testbed.teaching.marking.guard import stand_guard
from testbed.teaching.marking.kernel import confine
from testbed.teaching.marking.limits import BoothLimits, impose, peak_of_memory
from testbed.teaching.marking.mark import FAILED, NOT_DECIDED, REFUSED, in_a_line
from testbed.teaching.marking.seal import READY

NEARLY = 3 / 4
"""An answer that has asked for this part of its memory is taken to have run out of it."""
RACE_MAX = 100_000
GUARD = "Python's own guard"
TRIAL, AGAIN, ALONE = "trial", "again", "alone"
Seal = Callable[[bytes], bytes]


class OutOfMemory(BaseException):
    """The answer has asked for too much memory, as the system tells it."""


class NotOurs(BaseException):
    """Something of the testbed is not what it was."""


@attrs.frozen(kw_only=True)
class CheckPart:
    """One part of the check of an answer."""

    level: LearnLevel
    file: Path
    seed: int
    limits: BoothLimits
    folders: tuple[str, ...]
    """The folders that may be read."""
    kind: str
    """trial, again or alone."""
    trial: int
    """The place of its trial in the level."""
    runs: bytes = b""
    """What the part before has handed on."""
    life: tuple[str, int] = ("", 0)
    """The actor and the number of the life that is played alone."""


def be_part(part: CheckPart, changed: Callable[[], str], into: int, seal: Seal) -> NoReturn:
    """Play that part in this process, and end it. `changed` says what of the testbed has become
    another; what came of it goes to the pipe `into`, signed."""
    limits = part.limits
    peak_mb = peak_of_memory()
    most_mb = peak_mb() + limits.memory_mb * NEARLY
    kept = [*impose(limits), *confine(part.folders), GUARD]
    end = _ender(into, seal)
    encoded, line = encode, in_a_line
    spent = encode({"mark": FAILED, "reason": f"it used more than {limits.memory_mb} MB of memory"})

    def caught(words: str) -> NoReturn:
        end(encoded({"mark": REFUSED, "reason": f"it tried to {words}", "kept": kept}))

    def look(_: str = "", run: int = 1) -> None:
        # To make the race of an answer small that has died of it would take long, and show no more.
        if peak_mb() > most_mb:
            raise OutOfMemory
        if run == 1 and (what := changed()):
            raise NotOurs(what)

    os.write(into, READY)
    stand_guard(str(part.file), part.folders, caught)
    try:
        result, more = _PLAY[part.kind](part, look)
        look()
        message = encoded({**result, "kept": kept}) + b"\n" + more
    except NotOurs as error:
        tried = line(f"it tried to change {error}")
        message = encoded({"mark": REFUSED, "reason": tried, "kept": kept})
    except OutOfMemory:
        message = spent
    except BaseException as error:  # noqa: BLE001 - whatever it is, it goes no further
        ended = {**_ended_by(error, part.file), "kept": kept}
        message = spent if peak_mb() > most_mb else encoded(ended)
    end(message)


def _ender(into: int, seal: Seal) -> Callable[[bytes], NoReturn]:
    """The function that tells the result and ends the process. What the answer could replace is
    looked up now, before the answer is there."""
    write, leave = os.write, os._exit

    def end(message: bytes) -> NoReturn:
        rest = memoryview(seal(message))
        while rest:
            rest = rest[write(into, rest) :]
        leave(0)

    return end


def _ended_by(error: BaseException, file: Path) -> dict[str, Any]:
    """The mark of an answer whose part was ended by that error: by who has raised it, never by what
    its text says."""
    name = type(error).__name__
    is_answers = is_raised_by(error, str(file)) or not isinstance(error, Exception)
    if is_answers or isinstance(error, Overrun):
        return {"mark": FAILED, "reason": in_a_line(f"it raised {name}")}
    if isinstance(error, HarnessError) and not isinstance(error, HarnessBug):
        # The first line says what is wrong; the others say what to do next.
        said = str(error).partition("\n")[0]
        return {"mark": FAILED, "reason": in_a_line(said, file.parent)}
    return {"mark": NOT_DECIDED, "reason": f"the testbed itself has raised {in_a_line(name)}"}


def _trial(part: CheckPart, look: Callable[[str, int], None]) -> tuple[dict[str, Any], bytes]:
    trial = part.level.trials[part.trial]
    with answering(part.level, part.file) as answer:
        stage = staged(part.level, trial, answer.__name__, part.seed, look)
        tried = try_trial(stage, trial, answer.__name__)
        if tried.outcome != HELD:
            return _refused(tried, part.file), b""
        return {"runs": tried.runs}, pickle.dumps(runs_of(stage))


def _again(part: CheckPart, _: Callable[[str, int], None]) -> tuple[dict[str, Any], bytes]:
    with answering(part.level, part.file) as answer:
        stage = _stage(part, answer.__name__)
        try:
            found = noted_again(stage, answer.__name__, pickle.loads(part.runs))
        except (HarnessError, Overrun) as error:
            return _unlike(part, error), b""
        told = [pickle.dumps(runs) for _, runs in found]
        lives = [(*mine, len(each)) for (mine, _), each in zip(found, told, strict=True)]
        return {"lives": lives}, b"".join(told)


def _alone(part: CheckPart, _: Callable[[str, int], None]) -> tuple[dict[str, Any], bytes]:
    with answering(part.level, part.file) as answer:
        stage, runs = _stage(part, answer.__name__), pickle.loads(part.runs)
        try:
            play_alone(stage, answer.__name__, part.life, runs)
        except (HarnessError, Overrun) as error:
            return _unlike(part, error), b""
        return {}, b""


_PLAY = {TRIAL: _trial, AGAIN: _again, ALONE: _alone}


def _stage(part: CheckPart, program: str) -> Stage:
    return staged(part.level, part.level.trials[part.trial], program, part.seed)


def _unlike(part: CheckPart, error: BaseException) -> dict[str, Any]:
    trial = TriedTrial(name=part.level.trials[part.trial].name, outcome=HELD)
    return _refused(unlike(trial, error), part.file)


def _refused(tried: TriedTrial, file: Path) -> dict[str, Any]:
    """The mark of an answer of which that trial did not hold."""
    said = in_a_line(tried.said.partition("\nNext:")[0], file.parent)
    race = tried.race if len(tried.race) <= RACE_MAX else ""
    told = {"mark": REFUSED, "reason": said, "trial": tried.name, "race": race}
    return {**told, "runs": tried.runs}


def as_read(message: bytes) -> tuple[dict[str, Any], bytes]:
    """What a part has told: its result, and what it hands on."""
    told, _, more = message.partition(b"\n")
    result: dict[str, Any] = decode(told)
    return result, more
