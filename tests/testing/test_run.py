"""A Run in a test's hands: what it may be made from, and how it says that it did not hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenarios.basics.lost_update import lost_update
from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.faults.crash import Crash
from testbed.races.playing import play as play_race
from testbed.races.racefile import load
from testbed.testing.run import NotHeld, play
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.shared.circle import a_reader, in_a_circle

pytestmark = pytest.mark.usefixtures("own")
LEFT = Path(".testbed/lost_update-every_signature_is_kept.race.yaml")


@pytest.mark.parametrize("given", ["lost_update", lost_update, find("lost_update")])
def test_a_scenario_is_named_in_any_way(given: Any) -> None:
    """By name, as a function, as itself; held, there is nothing to raise, and nothing is left."""
    run = play(given, Calm(), switches={"guard": "on"}, faults=["2*crash:alpha", Crash("beta")])
    run.must_hold()
    assert run.verdict.is_held
    assert [fault.times_max for fault in run.faults] == [2, 1]
    assert not Path(".testbed").exists()
    assert repr(run).endswith("lost_update guard=on writers=2: held, 10 turns>")


def test_what_did_not_hold_tells_and_leaves_its_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Verdict, the story, the race, the line that plays it; the file is that race."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    run = play("lost_update", Uniform(1))
    with pytest.raises(NotHeld) as raised:
        run.must_hold()
    assert type(raised.value).__name__ == "NotHeld[every_signature_is_kept]"
    told = str(raised.value)
    assert told.startswith(f"{run.verdict}\n\n")
    assert told.endswith(f"\n\nAgain: testbed replay {LEFT}")
    race = load(str(LEFT))
    assert race == run.race()
    assert play_race(race, run.recipe).verdict.violations[0].invariant == race.expect[0].violates
    assert Path(".testbed/.gitignore").read_text() == "*\n"


def test_claims_are_told_apart_by_the_type_of_what_is_raised() -> None:
    """So whoever shrinks what it has drawn does not slip from one breach to another."""
    kinds = []
    chooser = Struck(3, "lose_reply alpha list notes")
    for recipe, decides, faults in (
        ("lost_update", Uniform(1), []), (a_reader, chooser, ["lose_reply"]),
    ):  # fmt: skip
        with pytest.raises(NotHeld) as raised:
            play(recipe, decides, faults=faults).must_hold()
        kinds.append(raised.type)
    assert [kind.__name__ for kind in kinds] == [
        "NotHeld[every_signature_is_kept]", "NotHeld[no_actor_dies]",
    ]  # fmt: skip
    with pytest.raises(NotHeld) as raised:
        play("lost_update", Uniform(1)).must_hold()
    assert raised.type is kinds[0]


def test_a_run_that_reached_a_limit_has_not_held() -> None:
    """It is undecided, which is not what was asked for; there is no race to leave."""
    with pytest.raises(NotHeld, match="Undecided: turns_max: 10 turns") as raised:
        play(in_a_circle, Calm()).must_hold()
    assert raised.type.__name__ == "NotHeld[undecided]"
    assert not Path(".testbed").exists()


def own_scenario(world: World) -> None:
    """At home in this test."""
    lost_update(world)


def inner() -> Callable[[World], None]:
    """A scenario that nobody can name."""

    def build(world: World) -> None:
        lost_update(world)

    return build


@pytest.mark.parametrize(
    ("made", "test", "again"),
    [
        (own_scenario, "tests/x.py::test_a (call)", "python -m pytest tests/x.py::test_a"),
        (own_scenario, "", f".race.yaml --scenario {__name__}:own_scenario"),
        (inner(), "tests/test_x.py::a[b c] (call)", "python -m pytest 'tests/test_x.py::a[b c]'"),
        (inner(), "", "python -m pytest"),
    ],
)  # fmt: skip
def test_a_scenario_of_a_test_is_played_again_by_that_test(
    made: Callable[[World], None], test: str, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only the test's own folder knows is no use to a command line; what has no name
    that could be imported is shown, and not left."""
    monkeypatch.setenv("PYTEST_CURRENT_TEST", test)
    with pytest.raises(NotHeld) as raised:
        play(of(made), Uniform(1)).must_hold()
    assert str(raised.value).splitlines()[-1].endswith(again)
    assert Path(".testbed").exists() is (made is own_scenario)
