"""Merging: what no reader can tell apart is one state and one move; what differs says how."""

from __future__ import annotations

from testbed import World
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.maps.graph import Arc, MapPlace
from testbed.maps.merging import Merged
from testbed.maps.state_map import StateMap
from testbed.turns.option import FAULT
from testbed.world.scenario import find, of
from tests.maps.walked_maps import map_of

REST = ("", "", "", "", "", "")


def allowing(*faults: Fault) -> StateMap:
    """The map of one writer of a list, which these faults may strike, one in a Run."""

    def build(world: World) -> None:
        find("lost_update").build(world, writers=1)
        world.allow(*faults)

    return map_of(of(build, "allowing"), faults_max=1)


def test_two_faults_that_strike_alike_are_one_move() -> None:
    """A reply that is lost by the one or by the other: the page has the map of the one alone."""
    twice, once = allowing(LoseReply("*"), LoseReply("*a")), allowing(LoseReply("*"))
    assert twice.states > once.states, "what is left of each is another"
    assert twice.as_dict()["states"] == once.as_dict()["states"]
    assert not [move for move in twice.as_dict()["moves"] if "(2)" in move["said"]]


def test_two_faults_that_strike_otherwise_say_how() -> None:
    """A crash with a restart and one without lead to other states."""
    found = allowing(Crash("alpha"), Crash("alpha", restart_after_ms=2000)).as_dict()
    faults = {move["said"] for move in found["moves"] if move["kind"] == FAULT}
    assert faults == {"alpha crashed (as usual)", "alpha crashed (restart after 2,000 ms)"}


def arc(said: str, to: int) -> Arc:
    """A move of that sentence to that state."""
    return Arc(0, ("own", said, "", "", "", ""), 0, said, "own", "alpha", to)


def place(number: int, *arcs: Arc, end: int = -1) -> MapPlace:
    """A state in which all the same is seen."""
    return MapPlace(number, [*arcs], -1, 0, is_rest=False, ms=0, truth=0, beliefs=(0,), end=end)


def test_states_that_lead_to_other_ends_are_told_apart() -> None:
    """However much later that is; and the moves to them, which are said alike, are numbered."""
    places = [
        place(0, arc("go", 1), arc("go", 2), arc("go", 3)),
        place(1, arc("wait", 4)), place(2, arc("wait", 5)), place(3, arc("wait", 6)),
        place(4, end=0), place(5, end=1), place(6, end=0),
    ]  # fmt: skip
    merged = Merged(places, REST)
    assert [each.number for each in merged.places] == [0, 1, 2, 4, 5]
    assert [(said, to) for said, _, to in merged.moves(places[0])] == [("go", 1), ("go (2)", 2)]
    assert merged.way([0, 3, 6]) == [0, 1, 3]


def test_the_calm_move_stays_the_first() -> None:
    """Two states with the same moves, of which another is the calm one, are two states."""
    there, back = arc("there", 2), arc("back", 3)
    places = [
        place(0, arc("left", 1), arc("right", 4)), place(1, there, back), place(2, end=0),
        place(3, end=1), place(4, back, there),
    ]  # fmt: skip
    merged = Merged(places, REST)
    assert len(merged.places) == len(places)
    assert [said for said, _, _ in merged.moves(places[4])] == ["back", "there"]
