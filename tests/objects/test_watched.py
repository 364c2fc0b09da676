"""Watched numbers: what they are in all else, and what of their use is noted."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.objects.codec import decode, encode
from testbed.objects.watched import (
    COMPARED,
    LOST,
    REMAINDER,
    Lookout,
    Watched,
    WatchedText,
    number_in,
    plain,
    plain_text,
    watched,
)
from tests.each_row import each_row

Use = Callable[[Any], Any]


def used(use: Use, value: int = 5_000) -> tuple[Any, list[tuple[str, int, str]]]:
    """What a use of a watched number gives, and what was noted of it."""
    sight = Lookout(lambda: "a")
    number = watched(value, sight, is_clock=True)
    sight.is_on = True
    found = use(number)
    sight.is_on = False
    return found, [(look.how, look.number, look.by) for look in sight.looks]


@each_row(
    "use",
    [
        lambda n: n + 1, lambda n: 1 + n, lambda n: n - 1, lambda n: 1 - n, lambda n: 2 * n,
        lambda n: n * 2, lambda n: -n, lambda n: +n, lambda n: n + n, lambda n: sum([n, 1]),
        lambda n: round(n), lambda n: math.floor(n), lambda n: n.real, lambda n: copy.copy(n),
        lambda n: copy.deepcopy([n])[0],
    ],
)  # fmt: skip
def test_what_grows_as_evenly_is_watched_too_and_is_no_look(use: Use) -> None:
    """Of a number that grows by one step, each of these does."""
    found, looks = used(use)
    assert type(found) is Watched
    assert plain(found) == use(5_000) if use(5_000) is not None else True
    assert looks == []


@each_row(
    ("use", "look"),
    [
        (lambda n: n < 3, (COMPARED, 4_997, "<")),
        (lambda n: n <= 3, (COMPARED, 4_997, "<=")),
        (lambda n: n > 3, (COMPARED, 4_997, ">")),
        (lambda n: n >= 3, (COMPARED, 4_997, ">=")),
        (lambda n: n == 3, (COMPARED, 4_997, "==")),
        (lambda n: n != 3, (COMPARED, 4_997, "!=")),
        (lambda n: n in (3,), (COMPARED, 4_997, "==")),
        (lambda n: bool(n), (COMPARED, 5_000, "bool")),
        (lambda n: abs(n) > -1 and None, (COMPARED, 5_000, "abs")),
        (lambda n: str(n) == "5001", (COMPARED, -1, "==")),
        (lambda n: n % 7, (REMAINDER, 2, "by 7")),
        (lambda n: plain(n // 7), (REMAINDER, 2, "by 7")),
        (lambda n: divmod(n, 7)[1], (REMAINDER, 2, "by 7")),
    ],
)
def test_a_look_is_noted_with_what_matters_of_it(use: Use, look: tuple[str, int, str]) -> None:
    """The difference, or the remainder."""
    found, looks = used(use)
    assert found == use(5_000)
    assert looks[0] == look


@each_row(
    "use",
    [
        lambda n: n / 2, lambda n: n * 2.0, lambda n: n < 2.5, lambda n: n * n, lambda n: n**2,
        lambda n: n & 1, lambda n: n >> 1, lambda n: 1 << (n - 4_999), lambda n: 7 // n,
        lambda n: float(n), lambda n: int(n), lambda n: hash(n), lambda n: {n: 1}[5_000],
        lambda n: n.bit_length(), lambda n: f"{n}", lambda n: f"at {n}", lambda n: repr(n),
        lambda n: int(str(n)), lambda n: str(n)[0], lambda n: len(str(n)), lambda n: "5" in str(n),
        lambda n: str(n) + "s", lambda n: "s" + str(n), lambda n: str(n).zfill(9),
        lambda n: list(str(n)), lambda n: hash(str(n)) == hash("5000"), lambda n: str(n) < "6",
        lambda n: f"{n!s}", lambda n: repr(str(n)), lambda n: str(n) >= "6",
        lambda n: pickle.loads(pickle.dumps(n)), lambda n: decode(encode(n)),
        lambda n: decode(encode(str(n))),
    ],
)  # fmt: skip
def test_what_is_lost_from_sight_is_noted_too(use: Use) -> None:
    """And comes to what it would have come to."""
    found, looks = used(use)
    assert found == use(5_000)
    assert LOST in {how for how, _, _ in looks}


@each_row(
    "use",
    [
        lambda n: n is None, lambda n: n == None, lambda n: n == "5000", lambda n: str(n) == "now",  # noqa: E711
        lambda n: n < float("inf"), lambda n: bool(str(n)), lambda n: str(n).isascii(),
    ],
)  # fmt: skip
def test_what_is_the_same_for_any_number_is_no_look(use: Use) -> None:
    """However far it has come."""
    found, looks = used(use)
    assert (found, looks) == (use(5_000), [])


def test_the_text_of_a_watched_number_is_handed_on_as_it_is() -> None:
    """So who writes it, and who reads it, have the number in sight."""
    found, looks = used(lambda n: str(str(n)))
    assert type(found) is WatchedText
    assert plain_text(found) == "5000"
    assert looks == []


def test_the_number_in_such_a_text_is_in_sight_if_it_is_asked_for() -> None:
    """As `int` is not: that gives a plain number, whoever asks."""
    assert used(lambda n: number_in(str(n)) - n < 7) == (True, [(COMPARED, -7, "<")])
    assert used(lambda n: int(str(n)) < 7) == (False, [(LOST, 0, "int")])
    assert number_in("12") == 12
    with pytest.raises(ValueError, match="soon"):
        number_in("soon")


@given(st.integers(), st.integers())
def test_it_is_the_same_number_in_all_else(one: int, other: int) -> None:
    """Whatever two whole numbers come to, a watched one comes to."""
    number = watched(one, Lookout(lambda: ""), is_clock=False)
    assert (number + other, other - number, number * other) == (
        one + other,
        other - one,
        one * other,
    )
    assert (number < other, number == other, other >= number) == (
        one < other,
        one == other,
        other >= one,
    )
    assert json.loads(json.dumps(number)) == one
    assert str(number) == str(one)
    if other:
        assert divmod(number, other) == divmod(one, other)


def test_nothing_is_noted_while_nobody_looks() -> None:
    """As while the testbed itself compares what a World holds."""
    sight = Lookout(lambda: "a")
    assert watched(3, sight, is_clock=False) == 3
    assert sight.looks == []
