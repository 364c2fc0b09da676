"""What a test does with a scenario: how far it looks, what it finds, when that is too little."""

from __future__ import annotations

import re

import pytest

from testbed.errors import UnknownName
from testbed.testing.run import NotHeld
from testbed.testing.seek import runs_of, seek
from tests.shared.circle import a_reader, in_a_circle

pytestmark = pytest.mark.usefixtures("own")


def test_what_is_breached_first_is_shrunk() -> None:
    """To one deviation, of the Run that a seed and nothing else decides; a guard keeps it away."""
    one, other = (seek("double_bind", seed=3) for _ in range(2))
    assert one.shrunk is not None
    assert other.shrunk is not None
    assert (one.runs, one.shrunk.race) == (other.runs, other.shrunk.race)
    assert len(one.shrunk.race) == 1
    with pytest.raises(NotHeld, match=re.escape(f"a breach in run {one.runs}, shrunk to this:")):
        one.must_hold()
    held = seek("double_bind", switches={"guard": "on"}, faults=["crash"], runs=30)
    held.must_hold()
    assert (held.runs, held.shrunk) == (30, None)
    assert held.looked == "double_bind: no breach in 30 runs."


def test_faults_are_part_of_what_is_found() -> None:
    """A reply that is lost kills a reader that expects it; the race has the fault in it."""
    found = seek(a_reader, faults=["lose_reply"]).shrunk
    assert found is not None
    assert (found.violation.invariant, len(found.race.faults)) == ("no_actor_dies", 1)


def test_runs_that_all_reach_a_limit_show_nothing() -> None:
    """None of them came to its end, so none has held."""
    searched = seek(in_a_circle, runs=3)
    assert searched.looked.endswith("no breach in 3 runs, 3 of them undecided.")
    with pytest.raises(NotHeld, match="3 of them undecided") as raised:
        searched.must_hold()
    assert "turns_max: 10 turns were played" in str(raised.value)


def test_an_effort_is_a_word() -> None:
    """For so many Runs; another word is told the nearest."""
    assert [runs_of(word) for word in ("quick", "deep")] == [400, 8_000]
    with pytest.raises(UnknownName, match=r"there is no effort 'depe'\. Did you mean 'deep'"):
        seek("lost_update", effort="depe")
