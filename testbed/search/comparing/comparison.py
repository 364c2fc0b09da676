"""Comparison: plays every alternative with the same seeds, and measures each Run."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import attrs

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
from testbed.turns.session import collected_between, play_all
from testbed.turns.trace import Trace
from testbed.world.chooser_by_name import maker_of
from testbed.world.scenario import Scenario
from testbed.world.world import World

COLLECT_EVERY = 10
"""How many Runs are played between two garbage collections: a kept Trace is large."""

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
    done, total = 0, runs * len(found)

    def worlds() -> Iterator[World]:
        nonlocal done
        for number in range(seed, seed + runs):
            for each in found:
                world = recipe.world(each.alternative.switches)
                world.goes_on = True
                world.prepare(maker_of(chooser, number)(), trace=Trace({}, keep=True))
                yield world
                # The session resumes here once that World has ended.
                _note(each, world, number, measures, important_from)
                done += 1
                if done % COLLECT_EVERY == 0:
                    gc.collect()
                if on_run is not None:
                    on_run(done, total)

    with collected_between():
        play_all(worlds(), driver=driver)
    drawn = draws_of(runs, draws) if runs >= RUNS_MIN else []
    rows = tuple(_rows(found, measures, drawn))
    return Comparison(recipe.name, runs, seed, chooser, tuple(found), rows)


def _note(
    played: PlayedAlternative,
    world: World,
    seed: int,
    measures: Sequence[Measure],
    important_from: int,
) -> None:
    verdict = world.verdict
    assert verdict is not None
    played.outcomes[verdict.outcome] += 1
    for violation in verdict.violations:
        played.breached.setdefault(violation.invariant, seed)
    if verdict.outcome == "undecided":
        played.ends.setdefault(verdict.end, seed)
    elif verdict.end not in AT_REST:
        played.cut[verdict.end] += 1
    history = RunHistory(world, important_from=important_from)
    for measure in measures:
        played.samples[measure.name].append(measure.of(history))


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
