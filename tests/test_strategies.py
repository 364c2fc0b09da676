"""Runs as `@given` tests draw them: found, shrunk with what the World is made of, and kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from scenarios.lost_update import Writer, every_signature_is_kept
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.stall import Stall
from testbed.invariant import quiescent
from testbed.objects import Map, Note
from testbed.racefile import load
from testbed.run import NotHeld, Run
from testbed.strategies import fault_budgets, runs
from testbed.world import World

pytestmark = pytest.mark.usefixtures("own")
FAST = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
)


def smallest(drawn: st.SearchStrategy[Run]) -> tuple[Run, NotHeld]:
    """Let a `@given` test fail, and give back the last Run it was given, and what it raised."""
    seen: list[Run] = []

    @FAST
    @given(run=drawn)
    def it_holds(run: Run) -> None:
        seen.append(run)
        run.must_hold()

    with pytest.raises(NotHeld) as raised:
        it_holds()
    # Hundreds are not worth their story, and a file each.
    assert [run.is_last for run in seen] == [False] * (len(seen) - 1) + [True]
    return seen[-1], raised.value


def test_a_race_is_found_and_shrunk_and_left() -> None:
    """One deviation is left of it; only the last Run is told in full, and its race is a file."""
    run, raised = smallest(runs("lost_update"))
    assert sum(choice != 0 for choice in run.trace.choices) == 1
    assert len(run.race()) == 1
    left = Path(".testbed/lost_update-every_signature_is_kept.race.yaml")
    assert load(str(left)) == run.race()
    assert str(raised).splitlines()[-1] == f"Again: testbed replay {left}"
    assert [file.name for file in Path(".testbed").glob("*.yaml")] == [left.name]


def test_switches_and_choices_shrink_together() -> None:
    """Two writers are enough for it, and one deviation."""
    switches = st.fixed_dictionaries({"writers": st.integers(2, 4)})
    run, _ = smallest(runs("lost_update", switches=switches))
    assert run.switches == {"writers": 2}
    assert len(run.race()) == 1


@st.composite
def signing(draw: st.DrawFn) -> Callable[[World], None]:
    """A World of one's own: who signs, and what stands on the list already."""
    names = draw(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), unique=True))
    signed = draw(st.lists(st.sampled_from(["x", "y"]), max_size=3))

    def build(world: World) -> None:
        world.add(Note("list", data=Map(signed=" ".join(signed))))
        for name in names:
            world.start(Writer(name))
        world.claim(quiescent(every_signature_is_kept))

    return build


def test_what_is_built_and_choices_shrink_together() -> None:
    """Two of three actors, on an empty list; such a World has no name, so its race is shown only,
    and the line runs the test."""
    run, raised = smallest(runs(build=signing()))
    assert sorted(run.world.table.roles) == ["alpha", "beta"]
    assert not Path(".testbed").exists()
    told = str(raised)
    assert "\nThe race:\n\n  scenario: " in told
    assert told.splitlines()[-1].startswith("Again: python -m pytest ")


def test_a_run_can_be_drawn_within_a_test() -> None:
    """Of a scenario that what was drawn before has made."""

    @FAST
    @given(st.data())
    def it_holds(data: st.DataObject) -> None:
        writers = data.draw(st.integers(2, 3))
        data.draw(runs("lost_update", switches={"writers": writers})).must_hold()

    with pytest.raises(NotHeld, match="writers: 2"):
        it_holds()


def test_guarded_it_survives_what_hypothesis_draws() -> None:
    """The other half of the pair, with crashes beside it."""
    seen: list[Run] = []

    @FAST
    @given(run=runs("lost_update", switches={"guard": "on"}, faults=fault_budgets("crash")))
    def it_holds(run: Run) -> None:
        seen.append(run)
        run.must_hold()

    it_holds()
    assert len(seen) >= 60
    assert {run.verdict.faults for run in seen} >= {0, 1, 2}


def test_what_is_found_depends_on_the_budget_that_is_drawn() -> None:
    """To kill a writer takes one lost message: one fault is allowed in the end, once."""
    faults = fault_budgets("crash", "lose_reply", "stall", times_max=3)
    run, _ = smallest(runs("lost_update", switches={"guard": "on"}, faults=faults))
    assert [(fault.word, fault.times_max) for fault in run.faults] == [("lose_reply", 1)]
    assert run.verdict.faults == 1


def test_budgets_are_mostly_small_and_shrink_to_none() -> None:
    """None, or one, or a few; each fault once or a few times, no fault twice; of those named, else
    of the common ones."""
    drawn: list[list[Fault]] = []

    @settings(FAST, max_examples=300)
    @given(fault_budgets(Crash("alpha", restart_after_ms=5), "2*stall", count_max=2, times_max=999))
    def look(faults: list[Fault]) -> None:
        drawn.append(faults)

    look()
    assert {len(faults) for faults in drawn} == {0, 1, 2}
    assert sum(len(faults) < 2 for faults in drawn) > len(drawn) // 2
    once = {attrs.evolve(fault, times_max=1) for faults in drawn for fault in faults}
    assert once == {Crash("alpha", restart_after_ms=5), Stall()}
    assert {fault.times_max for faults in drawn for fault in faults} <= set(range(1, 1000))
    assert all(len({fault.word for fault in faults}) == len(faults) for faults in drawn)
    assert find(fault_budgets(), lambda _: True, settings=FAST) == []
    (one,) = find(fault_budgets(), lambda faults: len(faults) > 0, settings=FAST)
    assert (one.word, one.times_max) == ("crash", 1)


@pytest.mark.parametrize("given_", [{}, {"scenario": "lost_update", "build": signing()}])
def test_a_scenario_or_a_build_is_given(given_: dict[str, Any]) -> None:
    """Not both, and not neither."""
    with pytest.raises(ScenarioError, match="expected one of them") as refused:
        runs(**given_)
    assert str(refused.value).splitlines()[-1].startswith("Next: ")
