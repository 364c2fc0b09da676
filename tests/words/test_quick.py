"""A class with a quick constructor is in all else the class that attrs made."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from testbed.code.quick import quick
from testbed.errors import HarnessBug
from tests.each_row import each_row


def _tripled(text: str) -> str:
    return text * 3


@attrs.frozen
class Base:
    """What both have from their base."""

    name: str


@attrs.frozen
class Slow(Base):
    """As attrs makes it."""

    text: str = attrs.field(default="a", converter=_tripled)
    many: tuple[int, ...] = attrs.field(factory=tuple)
    given: dict[str, int] = attrs.field(factory=dict, kw_only=True)
    fixed: int = attrs.field(default=7, init=False)
    key: str = attrs.field(init=False, eq=False, repr=False)

    @key.default
    def _(self) -> str:
        return f"{self.name}/{self.text}/{self.shout()}"

    def shout(self) -> str:
        """The name, in capitals."""
        return self.name.upper()


@quick
@attrs.frozen
class Quick(Slow):
    """The same, with a quick constructor."""

    last: str = "z"


@attrs.frozen
class Plain(Slow):
    """The same, without."""

    last: str = "z"


@quick
@attrs.frozen
class Checked:
    """It looks at itself when it is made, and may refuse to be."""

    number: int

    def __attrs_post_init__(self) -> None:
        if self.number < 0:
            raise ValueError(f"{type(self).__name__} of {self.number}")


CALLS: list[Callable[[Any], Any]] = [
    lambda cls: cls("n"),
    lambda cls: cls("n", "b", (1,), "y", given={"x": 1}),
    lambda cls: cls(name="n", last="l", many=(2,)),
    lambda cls: attrs.evolve(cls("n", "b"), name="m"),
    lambda cls: copy.copy(cls("n")),
]


@each_row("call", CALLS)
def test_it_makes_what_the_slow_one_makes(call: Callable[[Any], Any]) -> None:
    """Field for field, with defaults, factories, converters, and what follows from other fields."""
    made, expected = call(Quick), call(Plain)
    assert type(made) is Quick
    for field in attrs.fields(Plain):
        assert getattr(made, field.name) == getattr(expected, field.name)
    assert repr(made) == repr(expected).replace("Plain", "Quick")


def test_it_is_as_frozen_as_before() -> None:
    """No field of it can be set or deleted, and no new one added."""
    made = Quick("n")
    for name in ("name", "last", "other"):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(made, name, "x")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        del made.last


def test_a_plain_class_below_it_is_made_as_before() -> None:
    """By the constructor of attrs: the quick one opens only what it was made for."""

    class Below(Quick):
        pass

    class Narrow(Quick):
        __slots__ = ()

    for below in (Below, Narrow):
        made = below("n", "b", given={"a": 1}, last="y")
        assert type(made) is below
        assert (made.text, made.given, made.last, made.key) == ("bbb", {"a": 1}, "y", "n/bbb/N")


def test_it_takes_the_same_arguments() -> None:
    """Its signature is that of the slow one, and a wrong call is refused."""
    assert inspect.signature(Quick) == inspect.signature(Plain)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Quick()  # type: ignore[call-arg]


def test_equal_hashed_and_pickled_as_before() -> None:
    """It equals what has equal fields, and survives a pickle."""
    assert Quick("n") == Quick("n") != Quick("m")
    assert pickle.loads(pickle.dumps(Quick("n", "b"))) == Quick("n", "b")
    assert hash(Checked(3)) == hash(Checked(3))


def test_what_checks_itself_is_checked() -> None:
    """It sees itself whole, as what it is, and its error is raised as it is."""
    assert Checked(1).number == 1
    with pytest.raises(ValueError, match="Checked of -1"):
        Checked(-1)


@each_row("how", ["a dict", "a validator"])
def test_what_it_cannot_keep_is_refused(how: str) -> None:
    """A class of which something would be lost gets no quick constructor."""
    validator = attrs.validators.instance_of(int) if how == "a validator" else None
    field = {"n": attrs.field(default=1, validator=validator)}
    refused = attrs.make_class("Refused", field, frozen=True, slots=how != "a dict")
    with pytest.raises(HarnessBug, match="Refused"):
        quick(refused)
