"""Checking: plays the trials of a level with an answer, until one of them does not hold.

1. The answer takes its seat by the switch of the level, as `--policy` and `--switch` would do it.
   So all that plays a scenario can play the Run that was refused.
2. The trials are played in order. A varied one draws names and numbers by the seed.
3. The first Run that does not hold is shrunk to the few lines it needs, and its story is told.
4. If all trials hold, each life of the answer is played again alone (`alone`): it must do the same
   without the others.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import attrs

from testbed.client.actor import Actor
from testbed.errors import HarnessBug, HarnessError, Overrun, ReplayDiverged
from testbed.policy import BUILT_IN, own
from testbed.races.playing import play, race_of
from testbed.races.race import Race
from testbed.races.shrink import shrink
from testbed.story.explain import story
from testbed.teaching.alone import noted_again, play_alone, runs_of
from testbed.teaching.answer import answering
from testbed.teaching.checked import HELD, NOT_PLAYED, REFUSED, CheckedAnswer, TriedTrial
from testbed.teaching.level import LearnLevel, LevelTrial
from testbed.teaching.looks import LookedAt, Shown, Stage, looked
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.budget import Budget
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import Scenario, find

STORY_LINES_MAX = 60
"""A Run that comes to no end is told as far as this."""
SPINS = "a turn of it does not end: a loop that never awaits gives no other program a turn"
KEEPS = "it goes by what its Client has not shown, as by something that programs or lives share"
OnRun = Callable[[str, int], None]
"""Told the name of the trial and how many Runs of it were played."""


def _follow_nothing(_: str, __: int) -> None:
    """Do nothing: no one follows the check."""


def check(
    level: LearnLevel,
    given: type[Actor] | str | Path,
    *,
    seed: int = 0,
    on_run: OnRun = _follow_nothing,
) -> CheckedAnswer:
    """Check an answer: a class, or a file with one. ScenarioError if the file is no answer at all.

    The same answer and seed give the same result, byte for byte.
    """
    with answering(level, given) as answer:
        return checked_class(level, answer.__name__, seed=seed, on_run=on_run)


def checked_class(
    level: LearnLevel, program: str, *, seed: int, on_run: OnRun = _follow_nothing
) -> CheckedAnswer:
    """Check the program that switches call so; `built_in` is the careless one."""
    tried, stages = list[TriedTrial](), list[Stage]()
    for trial in level.trials:
        if any(each.outcome == REFUSED for each in tried):
            tried.append(TriedTrial(name=trial.name, outcome=NOT_PLAYED))
            continue
        stages.append(staged(level, trial, program, seed, on_run))
        tried.append(try_trial(stages[-1], trial, program))
    if program in own() and all(each.outcome == HELD for each in tried):
        tried = [try_alone(*each, program) for each in zip(stages, tried, strict=True)]
    return CheckedAnswer(
        level=level.number, name=level.name, program=program, seed=seed, trials=tuple(tried)
    )


def staged(
    level: LearnLevel,
    trial: LevelTrial,
    program: str,
    seed: int,
    on_run: OnRun = _follow_nothing,
) -> Stage:
    """The stage on which that trial of that program is played."""
    drawn = level.drawn(seed) if trial.is_varied else {}
    return Stage(
        find(level.name),
        {**drawn, **trial.switches, level.switch: program},
        tuple(map(parse_fault, trial.faults)),
        runs_out=trial.runs_out,
        seed=seed,
        on_run=lambda runs: on_run(trial.name, runs),
        kept=[],
    )


def try_trial(stage: Stage, trial: LevelTrial, program: str) -> TriedTrial:
    """Play one trial."""
    try:
        far = looked(trial.look, stage)
        if far.shown is None:
            return TriedTrial(name=trial.name, outcome=HELD, looked=far.words, runs=far.runs)
        return _refused(stage.recipe, trial, stage, far, far.shown)
    except (HarnessError, Overrun) as error:
        # The program broke a rule of the World, which ends the Run before any claim is asked. Or to
        # free its memory took so long that the watchdog raised again, in a frame of the World.
        return TriedTrial(
            name=trial.name, outcome=REFUSED, looked=f"run {stage.runs + 1}",
            runs=stage.runs + 1, said=_told(error, program),
        )  # fmt: skip


def try_alone(stage: Stage, held: TriedTrial, program: str) -> TriedTrial:
    """Play each life of the program again without the others, in the Runs of a trial that has held;
    return that trial, refused if one of them does otherwise."""
    try:
        for mine, runs in noted_again(stage, program, runs_of(stage)):
            play_alone(stage, program, mine, runs)
    except (HarnessError, Overrun) as error:
        return unlike(held, error)
    return held


def unlike(held: TriedTrial, error: BaseException) -> TriedTrial:
    """That trial, in which a life of the program did otherwise without the others."""
    if isinstance(error, HarnessBug):
        raise error
    said = f"{KEEPS}: {error}" if isinstance(error, ReplayDiverged) else KEEPS
    return attrs.evolve(held, outcome=REFUSED, said=said)


def _told(error: BaseException, program: str) -> str:
    """What is wrong, by who has raised the error: the World, or the program itself, whose text says
    nothing then. A bug of ours is none of the two, and is raised again."""
    if isinstance(error, Overrun):
        return SPINS
    if is_raised_by(error, file_of_program(program)):
        return f"{program} raises {type(error).__name__}, which is for the testbed alone"
    if isinstance(error, HarnessBug):
        raise error
    return _near(str(error), program)


def is_raised_by(error: BaseException, file: str | None) -> bool:
    """Whether the code of that file has raised the error."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and file is not None and frames[-1].filename == file


def file_of_program(program: str) -> str | None:
    """The file of the user's class of that name; None if it has none."""
    module = sys.modules.get(own()[program].__module__) if program in own() else None
    return getattr(module, "__file__", None)


def _near(text: str, program: str) -> str:
    """The text with the file of that program by its name alone: the same on every machine."""
    file = file_of_program(program)
    return text if file is None else text.replace(file, Path(file).name)


def _refused(
    recipe: Scenario, trial: LevelTrial, stage: Stage, far: LookedAt, shown: Shown
) -> TriedTrial:
    """What came of a trial in which that Run did not hold."""
    tried = TriedTrial(name=trial.name, outcome=REFUSED, looked=far.words, runs=far.runs)
    if not shown.verdict.is_violated and not _is_limit(shown.verdict):
        # A turn that does not end would not end the next time either.
        return attrs.evolve(tried, said=_of_limit(shown.verdict))
    race = race_of(recipe, stage.switches, shown.choices, faults=shown.faults)
    if not shown.verdict.is_violated:
        told = _without_an_end(race, recipe, shown.verdict)
        return attrs.evolve(tried, said=_of_limit(shown.verdict), race=race.text(), story=told)
    small = shrink(race, recipe)
    verdict, trace = small.played.verdict, small.played.trace
    claim = small.violation.invariant
    return attrs.evolve(
        tried,
        claim=claim,
        said=small.violation.said,
        race=small.race.text(),
        story=story(trace, verdict, claim),
    )


def _is_limit(verdict: Verdict) -> bool:
    """Whether its Run came to one of the limits that its scenario has set."""
    return any(verdict.end.startswith(field.name) for field in attrs.fields(Budget))


def _of_limit(verdict: Verdict) -> str:
    return SPINS if "did not yield" in verdict.end else f"the run comes to no end: {verdict.end}"


def _without_an_end(race: Race, recipe: Scenario, verdict: Verdict) -> str:
    """How a Run begins that comes to no end."""
    played = play(race, recipe, trace=Trace({}, keep=True))
    lines = story(played.trace, verdict).splitlines()
    if len(lines) > STORY_LINES_MAX:
        lines = [*lines[:STORY_LINES_MAX], "…"]
    return "\n".join(lines)


def careless_race(level: LearnLevel, *, seed: int = 0) -> TriedTrial:
    """The race of the careless program: what a check of the file that is handed out shows."""
    refused = checked_class(level, BUILT_IN, seed=seed).refused
    if refused is None:
        raise HarnessBug(f"level {level.number}: its careless program passes the check")
    return refused
