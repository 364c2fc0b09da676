"""Tally: counts by key, and copies with a few more or less."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.framework.tally import Tally

THINGS = st.sampled_from("abcd")


@given(
    st.dictionaries(THINGS, st.integers(0, 5)),
    st.lists(st.tuples(st.lists(THINGS, max_size=3), st.sampled_from([-1, 1, 2]))),
)
def test_it_counts_as_a_dict_would(
    start: dict[str, int], moves: list[tuple[list[str], int]]
) -> None:
    """Also the lowest count, the number of keys, and whether all counts are 0."""
    tally, plain = Tally(dict(start)), dict(start)
    for things, by in moves:
        tally = tally.plus(things, by)
        for thing in things:
            plain[thing] = plain.get(thing, 0) + by
        assert {thing: tally[thing] for thing in tally} == plain
        assert len(tally) == len(plain)
        assert tally.is_none == (not any(plain.values()))
        if plain:
            assert tally.least == min(plain.values())


def test_the_old_one_stays_as_it_was() -> None:
    """So one Trial does not disturb another."""
    old: Tally[str] = Tally({"a": 1})
    new = old.plus(["a", "b"], 1)
    assert (old["a"], old["b"], new["a"], new["b"]) == (1, 0, 2, 1)
    assert new.plus([], 1) is new
