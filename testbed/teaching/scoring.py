"""Scoring: figures of the Worlds of a level, by which answers that pass can be compared.

It is no part of the mark. The same answer has the same score on each machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.actor import Actor
from testbed.search.comparing.measure_kinds import measures_of
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Sample
from testbed.teaching.answer import answering
from testbed.teaching.level import LearnLevel
from testbed.turns.trace import Trace
from testbed.world.scenario import find

RUNS = 4
"""How many Runs of each World: the calm one, and random orders."""
SEED = 0


def score(level: LearnLevel, given: type[Actor] | str | Path) -> dict[str, int]:
    """Each figure that the level is scored by, over a few Runs of each World of its trials that are
    scored: how many in a Run, or a time in ms, rounded. A time that is never reached is -1."""
    measures = measures_of(level.scored_by) if level.scored_by else []
    samples: dict[str, list[Sample]] = {each.name: [] for each in measures}
    with answering(level, given) as answer:
        recipe = find(level.name)
        scored = [trial.switches for trial in level.trials if trial.is_scored]
        once = [of for nth, of in enumerate(scored) if of not in scored[:nth]]
        for world_of in once if measures else ():
            switches: dict[str, Any] = {**world_of, level.switch: answer.__name__}
            for number in range(RUNS):
                world, chooser = recipe.world(switches), Uniform(SEED) if number else Calm()
                world.run(chooser, driver="direct", trace=Trace({}, keep=True), number=number)
                history = RunHistory(world, important_from=0)
                for each in measures:
                    samples[each.name].append(each.of(history))
    found: dict[str, int] = {}
    for each in measures:
        for figure in each.figures:
            value = figure.value(samples[each.name])
            is_known = value is not None and value != float("inf")
            found[figure.name] = round(value) if is_known and value is not None else -1
    return found


def score_text(found: dict[str, int]) -> str:
    """The same in a line."""
    told = (f"{name} {value:,}" if value >= 0 else f"{name} never" for name, value in found.items())
    return "; ".join(told)
