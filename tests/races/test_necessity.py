"""Necessity: what a breach takes, by leaving out one thing after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testbed.races.necessity import necessary, necessity_lines
from tests.each_row import each_row


@each_row(
    ("breaks", "needed"),
    [
        (lambda left: {"a", "c"} <= set(left), [True, False, True]),
        (lambda left: True, [False, False, False]),
        (lambda left: False, [True, True, True]),
        (lambda left: "a" in left or "b" in left, [False, False, False]),
    ],
)
def test_needed_is_what_it_does_not_break_without(
    breaks: Callable[[Sequence[str]], bool], needed: list[bool]
) -> None:
    """Each is left out once, with all the others in their order; of two that can stand in for each
    other neither is needed."""
    asked: list[list[str]] = []

    def breaches(left: Sequence[str]) -> bool:
        asked.append([*left])
        return breaks(left)

    flipped = necessary("abc", breaches)
    assert asked == [["b", "c"], ["a", "c"], ["a", "b"]]
    assert [each.deviation for each in flipped] == ["a", "b", "c"]
    assert [each.is_necessary for each in flipped] == needed


def test_the_same_twice_is_left_out_once_each() -> None:
    """Two deviations that read alike are two."""
    flipped = necessary(["x", "x"], lambda left: len(left) == 2)
    assert [each.is_necessary for each in flipped] == [True, True]


def test_what_was_found_is_a_line_each() -> None:
    """Aligned, needed or not."""
    flipped = necessary(["hold a", "hold b"], lambda left: "hold a" in left)
    assert necessity_lines(flipped) == ["needed      hold a", "not needed  hold b"]
