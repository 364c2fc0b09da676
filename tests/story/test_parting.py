"""Parting: two Runs part for good after the last state that both had, as all pairs of them say."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.story.parting import side_by_side
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.shared.stage import Puppet, note

NAMES = ("a", "b", "c")
Held = dict[str, str]
WRITES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(("", "x", "y"))), max_size=6)
"""What is to stand in which note; nothing: it is deleted."""


def traced(writes: list[tuple[str, str]], before: list[str]) -> tuple[Trace, list[Held]]:
    """A Run that writes so, and what was held before it and after each write."""
    held = [dict.fromkeys(before, "")]

    async def write(client: Client) -> None:
        for name, by in writes:
            now = dict(held[-1])
            if now.get(name, "") == by and (by or name not in now):
                continue
            if by and name in now:
                await client.update(note(name, by=by), whatever_it_was=True)
            elif by:
                await client.create(note(name, by=by))
            else:
                await client.delete(note(name), whatever_it_was=True)
            held.append({**now, name: by} if by else {n: w for n, w in now.items() if n != name})

    world = World("writes")
    world.add(*(note(name, by="") for name in before))
    world.start(Puppet("alpha", write))
    world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    return world.trace, held


def parts_at(one: Trace, other: Trace) -> tuple[int, int]:
    """How many writes of each stand above the line."""
    above = side_by_side(one, other).partition("┄")[0].splitlines()[2:]
    return sum(row[:46].strip() != "" for row in above), sum(row[48:] != "" for row in above)


@settings(max_examples=100, deadline=None)
@given(WRITES, WRITES, st.lists(st.sampled_from(NAMES), unique=True))
def test_they_part_after_the_last_state_that_both_had(
    one: list[tuple[str, str]], other: list[tuple[str, str]], before: list[str]
) -> None:
    """What was there before either wrote, and what is deleted, counts as what is written does."""
    (calm, there), (run, here) = traced(one, before), traced(other, before)
    alike = [(r, left) for r, h in enumerate(here) for left, t in enumerate(there) if h == t]
    right, left = max(alike)
    assert parts_at(calm, run) == (left, right)


def test_a_thing_made_again_is_the_same_but_for_its_age() -> None:
    """Its uid and its revision tell when it was made, not what it is."""
    once, _ = traced([("a", "x")], [])
    again, _ = traced([("a", "y"), ("a", ""), ("a", "x")], [])
    assert parts_at(once, again) == (1, 3)
