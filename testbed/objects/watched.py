"""Watched: numbers that note with what they are compared, so that it is known whether a program
would ever do otherwise if they went on growing.

Where a lap is being proved, a World gives its tasks such numbers for its clock and for what counts:
a generation, a counter in a variable. They are whole numbers in all else. What is made of them by
adding, subtracting, multiplying and dividing grows as evenly, and is watched too. A comparison
notes the difference: as long as that stays the same, or moves away from nought, it comes out the
same for ever. What is lost from sight is noted as well: a float, a hash, a part of a text.

No other World has any, and none costs it anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self, SupportsIndex

COMPARED, REMAINDER, LOST = "compares", "divides", "loses"
"""What was done with a watched number."""
SIZE = 20
"""How many bytes the text of a watched number takes at most."""


class Use(NamedTuple):
    """One use of a watched number."""

    who: str
    """The actor that used it; empty for an Endpoint or the World itself."""
    how: str
    """COMPARED, REMAINDER or LOST."""
    is_clock: bool
    """Whether the number is a time, or made of times alone."""
    number: int
    """What matters of it: the difference, the remainder, or 0."""
    by: str
    """The operation, such as `<` or `hash`."""


class Lookout:
    """All uses of the watched numbers of one World, oldest first."""

    def __init__(self, who: Callable[[], str]) -> None:
        self.is_on = False
        """Whether uses are noted."""
        self.looks: list[Use] = []
        self._who = who
        """Returns the name of the actor that moves now."""

    def note(self, how: str, is_clock: bool, number: int, by: str) -> None:
        """Note a use."""
        if self.is_on:
            self.looks.append(Use(self._who(), how, is_clock, number, by))


class Watched(int):
    """A whole number that is watched."""

    sight: Lookout
    is_clock: bool

    def _made(self, value: int, other: object = 0) -> Watched:
        is_clock = self.is_clock and (type(other) is not Watched or other.is_clock)
        return watched(value, self.sight, is_clock=is_clock)

    def lose(self, by: str) -> None:
        """Note that it is lost from sight."""
        self.sight.note(LOST, self.is_clock, 0, by)

    def compare(self, other: int, by: str) -> None:
        """Note a comparison with another number."""
        is_clock = self.is_clock and (type(other) is not Watched or other.is_clock)
        self.sight.note(COMPARED, is_clock, int.__sub__(self, other), by)

    def _compare(self, other: object, by: str) -> None:
        if isinstance(other, int):
            self.compare(other, by)
        elif isinstance(other, float) and abs(other) != float("inf"):
            self.lose(f"{by} with a float")

    # -- what goes on growing evenly --------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return self._left("__add__", other)
        return self._made(int.__add__(self, other), other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return self._left("__sub__", other)
        return self._made(int.__sub__(self, other), other)

    def __rsub__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return self._left("__rsub__", other)
        return self._made(int.__rsub__(self, other), other)

    def __mul__(self, other: Any) -> Any:
        # The product of two numbers that grow does not grow evenly.
        if type(other) is Watched or not isinstance(other, int):
            return self._left("__mul__", other)
        return self._made(int.__mul__(self, other))

    __rmul__ = __mul__

    def __neg__(self) -> Watched:
        return self._made(int.__neg__(self))

    def __pos__(self) -> Watched:
        return self

    def __abs__(self) -> Watched:
        self.compare(0, "abs")
        return self._made(int.__abs__(self))

    def __floordiv__(self, other: Any) -> Any:
        if not self._divides(other):
            return self._left("__floordiv__", other)
        return self._made(int.__floordiv__(self, other))

    def __mod__(self, other: Any) -> Any:
        return int.__mod__(self, other) if self._divides(other) else self._left("__mod__", other)

    def __divmod__(self, other: Any) -> Any:
        if not self._divides(other):
            return self._left("__divmod__", other)
        return self._made(int.__floordiv__(self, other)), int.__mod__(self, other)

    def _divides(self, other: object) -> bool:
        """Note the remainder, if a plain number divides it: while that stays the same, the
        quotient grows evenly."""
        if type(other) is not int or other == 0:
            return False
        self.sight.note(REMAINDER, self.is_clock, int.__mod__(self, other), f"by {other}")
        return True

    def _left(self, name: str, other: object) -> Any:
        """The plain result, where it is lost from sight."""
        found = getattr(int, name)(self, other)
        if found is not NotImplemented or isinstance(other, float):
            self.lose(name.strip("_"))
        return found

    # -- comparing --------------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Any:
        self._compare(other, "<")
        return int.__lt__(self, other)

    def __le__(self, other: Any) -> Any:
        self._compare(other, "<=")
        return int.__le__(self, other)

    def __gt__(self, other: Any) -> Any:
        self._compare(other, ">")
        return int.__gt__(self, other)

    def __ge__(self, other: Any) -> Any:
        self._compare(other, ">=")
        return int.__ge__(self, other)

    def __eq__(self, other: object) -> Any:
        self._compare(other, "==")
        return int.__eq__(self, other)

    def __ne__(self, other: object) -> Any:
        self._compare(other, "!=")
        return int.__ne__(self, other)

    def __bool__(self) -> bool:
        self.compare(0, "bool")
        return int.__bool__(self)

    # -- what is lost, and what is not ------------------------------------------------------------

    def __hash__(self) -> int:
        self.lose("hash")
        return int.__hash__(self)

    def __str__(self) -> str:
        return WatchedText.of(self)

    def __repr__(self) -> str:
        self.lose("repr")
        return int.__repr__(self)

    def __format__(self, spec: str) -> str:
        self.lose("format")
        return int.__format__(self, spec) if spec else WatchedText.of(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        self.lose("pickle")
        return int, (plain(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __round__(self, digits: Any = None) -> Any:
        return self if digits is None else self._left("__round__", digits)

    def __floor__(self) -> Self:
        return self

    __ceil__ = __trunc__ = __floor__
    real = numerator = property(lambda self: self)


class WatchedText(str):
    """The text of a watched number. It may be handed on and written; whether it equals another text
    is a comparison of numbers, and any other look at it loses the number from sight."""

    number: Watched

    @classmethod
    def of(cls, number: Watched) -> WatchedText:
        """The text of that number."""
        made = cls(int.__repr__(number))
        made.number = number
        return made

    def __eq__(self, other: object) -> bool:
        if type(other) is WatchedText:
            self.number.compare(other.number, "==")
        elif isinstance(other, str) and _is_number(other):
            self.number.compare(int(other), "==")
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        self.number.lose("hash")
        return str.__hash__(self)

    def __str__(self) -> str:
        return self

    def __radd__(self, other: Any) -> Any:
        self.number.lose("radd")
        return other + plain_text(self) if isinstance(other, str) else NotImplemented

    def __int__(self) -> int:
        self.number.lose("int")
        return int.__add__(self.number, 0)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        self.number.lose("pickle")
        return str, (plain_text(self),)

    def isascii(self) -> bool:
        """As of any such text."""
        return True

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self


def watched(value: int, sight: Lookout, *, is_clock: bool) -> Watched:
    """That number, watched from now on."""
    made = int.__new__(Watched, value)
    made.sight, made.is_clock = sight, is_clock
    return made


def number_in(text: str) -> int:
    """Return the whole number that a text says, as `int` does; ValueError if it says none. Of the
    text of a watched number it is that number: `int` would lose it from sight."""
    return text.number if type(text) is WatchedText else int(text)


def plain(value: Any) -> Any:
    """A number without its watch, for what the testbed itself does with it; others as they are."""
    return int.__add__(value, 0) if type(value) is Watched else value


def plain_text(text: str) -> str:
    """The same of a text."""
    return "".join(str.__iter__(text))


def size_of(text: str) -> int:
    """How many bytes a text takes. A watched number takes as many as any to which a World comes, so
    that a limit on the size of a text is no look at it."""
    return SIZE if type(text) is WatchedText else len(text.encode())


def told(value: object) -> int | str | None:
    """A watched number or text as JSON says it, which loses it from sight; None if it is none."""
    if type(value) is Watched:
        value.lose("JSON")
        return plain(value)  # type: ignore[no-any-return]
    if type(value) is WatchedText:
        value.number.lose("JSON")
        return plain_text(value)
    return None


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text


def _losing(kind: type, name: str) -> Callable[..., Any]:
    way = getattr(kind, name)

    def looks(self: Any, *args: Any, **more: Any) -> Any:
        (self if kind is int else self.number).lose(name.strip("_"))
        return way(self, *args, **more)

    return looks


# Whatever else a number or a text can be asked loses it from sight, so nothing is forgotten here
# that a later Python adds. What makes and keeps an object is no look at it.
_LOOKS = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__format__", "__repr__"})
_NO_LOOK = frozenset(dir(object)) - _LOOKS | {"__getnewargs__", "from_bytes", "maketrans"}
for _kind, _watch in ((int, Watched), (str, WatchedText)):
    for _name in sorted(frozenset(dir(_kind)) - _NO_LOOK - frozenset(vars(_watch))):
        if callable(getattr(_kind, _name)):
            setattr(_watch, _name, _losing(_kind, _name))
