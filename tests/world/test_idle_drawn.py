"""Of Worlds drawn at random that never rest: what is called idle changes nothing any more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from attrs import evolve

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.surw import SURW
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play, race_of
from testbed.races.racefile import parse
from testbed.turns.trace import Trace
from tests.models.restless.drawing import restless
from tests.models.restless.going_on import Holding, changes_after, played

CHOOSERS: tuple[Callable[[int], Chooser], ...] = (lambda _: Calm(), Uniform, SURW, Holding)


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(range(100), id="100"),
        pytest.param(range(500), id="500", marks=pytest.mark.long),
        pytest.param(range(20_000), id="20000", marks=pytest.mark.long),
    ],
)
def test_nothing_changes_in_a_run_that_was_idle(numbers: range) -> None:
    """Whoever has chosen: calmly or not, it goes on for twenty rounds of its slowest actor without
    a commit and without a breach."""
    seen: Counter[str] = Counter()
    everyone = len(numbers) > 100
    for number in numbers:
        for place, make in enumerate(CHOOSERS):
            if not everyone and place != number % len(CHOOSERS):
                continue
            seeds = range(1, 4) if everyone else range(1, 2)
            changed = changes_after(restless(number), lambda: make(number), seeds)  # noqa: B023
            assert not changed, f"World {number}, chooser {place}: {changed}"
            seen["awake" if changed is None else "idle"] += 1
    assert seen["idle"] > sum(seen.values()) / 8


@pytest.mark.parametrize("numbers", [range(10), pytest.param(range(500), marks=pytest.mark.long)])
def test_a_race_file_of_such_a_run_ends_alike(numbers: range) -> None:
    """Written as a text and read back, it holds back what the Run has passed over, so what is seen
    when time passes has to be the same: the same turns, the same end, in the same words."""
    for number in numbers:
        drawn = restless(number)
        limits = {"turns_max": 300, "until_ms": 9_000} if number % 3 else {"turns_max": 300}
        drawn = evolve(drawn, limits={**drawn.limits, **limits})
        world, scenario = played(drawn, Uniform(number)), drawn.scenario()
        race = race_of(scenario, {}, world.trace.choices)
        again = play(parse(race.text(), "a.race.yaml"), scenario)
        assert ended(again.trace) == ended(world.trace), number


def ended(trace: Trace) -> str:
    """How many turns there were, and how the Run has ended. A hold is a Step, and so each Step has
    another number."""
    assert trace.end is not None
    said = {name: held for name, held in trace.end.items() if name != "sum"}
    return re.sub(r"step \d+", "step", str(said))
