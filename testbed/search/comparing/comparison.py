"""Comparison: plays every alternative with the same seeds, and measures each Run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import attrs

from testbed.child import IN_ONE, Jobs
from testbed.search.comparing.alternatives import Alternative
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.resampling import (
    DRAWS,
    RUNS_MIN,
    Estimate,
    difference,
    draws_of,
    estimate,
)
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample
from testbed.search.sharing import shared_out
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.chooser_by_name import maker_of
from testbed.world.scenario import Scenario
from testbed.world.world import World

_Shown = tuple[Verdict, dict[str, Sample]]
"""What one Run has shown: its Verdict, and a Sample by measure."""

AT_REST = ("quiet", "stuck")
"""The ends of a Run in which nothing more happens."""


@attrs.define
class PlayedAlternative:
    """What all Runs of one alternative have shown."""

    alternative: Alternative
    outcomes: Counter[str] = attrs.field(factory=Counter)
    """How many Runs were held, violated and undecided."""
    breached: dict[str, int] = attrs.field(factory=dict)
    """By claim, the seed of the first Run in which it was violated."""
    ends: dict[str, int] = attrs.field(factory=dict)
    """By why a Run was undecided, the seed of the first one."""
    cut: Counter[str] = attrs.field(factory=Counter)
    """By limit, how many violated Runs went on to it, and would have gone on."""
    samples: dict[str, list[Sample]] = attrs.field(factory=dict)
    """By measure, one Sample for each Run, in the order of seeds."""


@attrs.frozen
class FigureRow:
    """One Figure of every alternative."""

    measure: Measure
    figure: Figure
    estimates: tuple[Estimate, ...]
    """In the order of the alternatives."""
    differences: tuple[Estimate, ...]
    """Each from the first alternative."""


@attrs.frozen
class Comparison:
    """What was played, and what it came to."""

    scenario: str
    runs: int
    seed: int
    chooser: str
    played: tuple[PlayedAlternative, ...]
    rows: tuple[FigureRow, ...]


def compare(
    recipe: Scenario,
    alternatives: Sequence[Alternative],
    measures: Sequence[Measure],
    *,
    runs: int,
    seed: int = 1,
    chooser: str = "uniform",
    driver: str = "direct",
    important_from: int = 1,
    draws: int = DRAWS,
    on_run: Callable[[int, int], None] | None = None,
    jobs: Jobs = IN_ONE,
) -> Comparison:
    """Play `runs` Runs of each alternative, with the seeds from `seed` on.

    Run by Run the alternatives have the same seed: each pick has a stream of its own (GEN-5), so
    what is picked is the same in all of them as long as it is asked for. A Run goes on after a
    Violation, so that all are measured to their end. The intervals are made from `draws` draws;
    with 0 draws, or of fewer than ten Runs, there are none. `on_run` is called after each Run with
    the number of Runs so far, and of all.
    """
    for alternative in alternatives:
        recipe.check(alternative.switches)
    found = [
        PlayedAlternative(each, samples={each.name: [] for each in measures})
        for each in alternatives
    ]
    total = runs * len(found)

    def shown_by(part: int) -> _Shown:
        number, place = seed + part // len(found), part % len(found)
        world = recipe.world(alternatives[place].switches)
        world.goes_on = True
        world.run(maker_of(chooser, number)(), driver=driver, trace=Trace({}, keep=True))
        return _shown(world, measures, important_from)

    with closing(shared_out(shown_by, total, jobs)) as every:
        for part, shown in enumerate(every):
            _note(found[part % len(found)], shown, seed + part // len(found))
            if on_run is not None:
                on_run(part + 1, total)
    drawn = draws_of(runs, draws) if runs >= RUNS_MIN else []
    rows = tuple(_rows(found, measures, drawn))
    return Comparison(recipe.name, runs, seed, chooser, tuple(found), rows)


def _shown(world: World, measures: Sequence[Measure], important_from: int) -> _Shown:
    """Measure a Run that has ended."""
    assert world.verdict is not None
    history = RunHistory(world, important_from=important_from)
    return world.verdict, {measure.name: measure.of(history) for measure in measures}


def _note(played: PlayedAlternative, shown: _Shown, seed: int) -> None:
    verdict, samples = shown
    played.outcomes[verdict.outcome] += 1
    for violation in verdict.violations:
        played.breached.setdefault(violation.invariant, seed)
    if verdict.outcome == "undecided":
        played.ends.setdefault(verdict.why, seed)
    elif verdict.end not in AT_REST:
        played.cut[verdict.end] += 1
    for name, sample in samples.items():
        played.samples[name].append(sample)


def _rows(
    found: Sequence[PlayedAlternative],
    measures: Sequence[Measure],
    draws: Sequence[Sequence[int]],
) -> Iterator[FigureRow]:
    for measure in measures:
        first = found[0].samples[measure.name]
        for figure in measure.figures:
            each = [played.samples[measure.name] for played in found]
            yield FigureRow(
                measure, figure,
                tuple(estimate(figure, samples, draws) for samples in each),
                tuple(difference(figure, samples, first, draws) for samples in each),
            )  # fmt: skip
