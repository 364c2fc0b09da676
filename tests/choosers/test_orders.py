"""Which turns must keep their order, and the one form of all Runs that keep it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from testbed.choosers.equivalence.orders import Keys, OrderedTurn, Past
from testbed.store.footprint import Footprint
from testbed.turns.option import Sentence

KEYS = st.sampled_from(
    ("notes/n", "log:notes", "log:notes.data", "log:notes.data.by", "log:notesy", "log:pods.data")
)
FOOTPRINTS = st.builds(Footprint, st.frozensets(KEYS), st.frozensets(KEYS))


@given(FOOTPRINTS, FOOTPRINTS)
def test_touches_clash_just_as_footprints_do(one: Footprint, other: Footprint) -> None:
    """Bits instead of sets of strings, and the same answer both ways round."""
    keys = Keys()
    touch, other_touch = keys.touch(one), keys.touch(other)
    assert touch.clashes(other_touch) is one.clashes(other)
    assert other_touch.clashes(touch) is one.clashes(other)


@given(FOOTPRINTS, FOOTPRINTS, FOOTPRINTS)
def test_joined_touches_clash_if_either_does(
    one: Footprint, other: Footprint, third: Footprint
) -> None:
    """What is known of an Option is all it was seen to touch."""
    keys = Keys()
    joined = keys.touch(one).joined(keys.touch(other))
    assert joined.clashes(keys.touch(third)) is (one.clashes(third) or other.clashes(third))


def event(
    path: str, key: str = "", *causes: int, writes: bool = True, now_ms: int = 0, keys: Keys
) -> OrderedTurn:
    """A turn of that path which writes, or reads, one key."""
    touched = frozenset({key} - {""})
    did = Footprint(
        frozenset() if writes else touched, (touched if writes else frozenset()) | {path}
    )
    sentence = Sentence("serve", path, "", key, "", 1)
    return OrderedTurn(sentence, (), now_ms, did, keys.touch(did), causes)


def test_runs_of_one_class_have_one_form() -> None:
    """Reads commute with reads, and with writes of other keys; a cause keeps its place."""
    keys = Keys()
    forms = []
    for order in ("abc", "acb", "cab"):
        past = Past()
        for name in order:
            key, writes = {"a": ("x", False), "b": ("y", True), "c": ("x", False)}[name]
            past.add(event(name, key, writes=writes, keys=keys))
        forms.append([(one.content, causes) for one, causes in past.form()])
    assert forms[0] == forms[1] == forms[2]


def test_a_race_is_what_comes_right_before_and_is_no_cause() -> None:
    """The second write of a key races with the first, not with what the first has overtaken; its
    own cause is no race, nor is what happened before time passed."""
    keys, past = Keys(), Past()
    assert past.add(event("a", "x", keys=keys)) == []
    assert past.add(event("b", "x", keys=keys)) == [0]
    assert past.add(event("c", "x", keys=keys)) == [1]
    assert past.add(event("d", "x", 2, keys=keys)) == []
    assert past.before[3] == 0b111
    assert past.add(event("e", "x", now_ms=5, keys=keys)) == []
    assert past.before[4] == 0b1111


def test_a_race_is_turned_round_by_what_does_not_follow_from_its_first_turn() -> None:
    """To let c come before a, b must have been; d, which follows from a, must not."""
    keys, past = Keys(), Past()
    past.add(event("a", "x", keys=keys))
    past.add(event("d", "", 0, keys=keys))
    past.add(event("b", "y", keys=keys))
    assert past.add(event("c", "x", 2, keys=keys)) == [0]
    assert past.reversed(0, 3) == [2]


def test_what_is_cut_off_is_forgotten() -> None:
    """A Run goes on from an earlier turn as if the rest had never been."""
    keys, past = Keys(), Past()
    for name in "ab":
        past.add(event(name, "x", keys=keys))
    whole = past.form()
    past.add(event("c", "x", keys=keys))
    past.cut(2)
    assert past.form() == whole
    assert past.add(event("c", "y", keys=keys)) == []
