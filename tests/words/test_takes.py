"""Takes: a function that cannot be called with that many arguments is told from one that can."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from testbed.code.takes import wrong_count
from tests.each_row import each_row


def two(one: int, other: int) -> None:
    """Take both."""


def some(one: int, other: int = 2, *, last: int = 3) -> None:
    """Take one or two."""


def many(*all_of_them: int) -> None:
    """Take any number."""


def named(one: int, *, other: int) -> None:
    """Take one, and another by its name."""


@wraps(two)
def wrapping(one: int) -> None:
    """Give the other itself."""
    two(one, 2)


class Of:
    """Has functions of its own."""

    def method(self, one: int) -> None:
        """Take one."""

    def any_number(*all_of_them: Any) -> None:
        """Take itself and any number."""

    @classmethod
    def of_class(cls, one: int) -> None:
        """Take one."""

    @staticmethod
    def static(one: int) -> None:
        """Take one."""

    def __call__(self, one: int) -> None:
        """Take one."""


TAKES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "two": (two, (2,)),
    "one or two": (some, (1, 2)),
    "any number": (many, (0, 1, 2, 3)),
    "one by its name": (named, ()),
    "a part": (partial(two, 1), (1,)),
    "a part of a part": (partial(partial(two, 1), 2), (0,)),
    "a part by its name": (partial(named, other=2), (1,)),
    "a part in the middle": (partial(two, other=2), (1,)),
    "what wraps another": (wrapping, (1,)),
    "a method": (Of().method, (1,)),
    "a method of any number": (Of().any_number, (0, 1, 2, 3)),
    "a method of a class": (Of.of_class, (1,)),
    "a static one": (Of.static, (1,)),
    "an instance": (Of(), (1,)),
    "a class": (Of, (0,)),
    "one of Python's, which does not say": (dict, (0, 1, 2, 3)),
}


@each_row("case", TAKES)
def test_it_takes_as_many_as_it_can_be_called_with(case: str) -> None:
    """And of each other number it is said what is wrong."""
    fn, numbers = TAKES[case]
    assert [count for count in range(4) if not wrong_count(fn, count)] == list(numbers)
    assert all(
        wrong_count(fn, count).startswith(("missing a required", "too many positional"))
        for count in range(4)
        if count not in numbers
    )
