"""Written: what a Likeness has written down, in pieces, and the text that this comes to.

Two things are not known when a value is written: how far a time is from now, if the piece is kept
from one moment to the next; and which rank a mark has, since that depends on all marks in sight. So
both stand in a piece as they are, and become text in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import attrs

from testbed.code.quick import quick
from testbed.invariants.lasso.renaming import Mark, Renaming

END = "\0"
"""What stands between two texts; no text has it."""


@quick
@attrs.frozen
class Due:
    """A time, which is written as how far it is from now, or by its rank if it is over."""

    at_ms: int
    is_fine: bool
    """Whether it is compared with a clock, so that it is always written as how far it is."""

    def from_now(self, now_ms: int) -> str | Mark:
        """What is written of it at that time."""
        if self.is_fine:
            return f"{self.at_ms - now_ms} ms from now"
        return f"in {self.at_ms - now_ms} ms" if self.at_ms > now_ms else Mark("ms", self.at_ms)


class Piece:
    """What is written of one value, to stand wherever that value is met again."""

    __slots__ = ("items", "lasts", "learned", "numbered")

    def __init__(self, part: Iterable[Item], numbered: int = 0) -> None:
        self.items = tuple(_joined(part))
        """Its texts, those that follow each other as one, and what becomes text in the end."""
        self.numbered = numbered
        """How many objects in it have a number of their own each time that it is written."""
        self.lasts = False
        """Whether nothing in it can ever change."""
        self.learned = 0
        """How many names were known when it was looked at last."""

    def names(self, learned: Iterable[str]) -> bool:
        """Whether one of these stands in it."""
        return any(name in item for name in learned for item in self.items if type(item) is str)


Item = str | Mark | Due | Piece


def _joined(part: Iterable[Item]) -> Iterator[Item]:
    run: list[str] = []
    for item in plainly(part):
        if type(item) is str:
            run.append(item)
        else:
            if run:
                yield END.join(run)
                run = []
            yield item
    if run:
        yield END.join(run)


def plainly(part: Iterable[Item]) -> Iterator[Item]:
    """What stands in a part, with the items of each piece instead of the piece."""
    for item in part:
        if type(item) is Piece:
            yield from item.items
        else:
            yield item


def order_of(part: Iterable[Item], now_ms: int, names: Renaming) -> tuple[list[str], list[int]]:
    """What a member of a set is sorted by: what it says, then what of it means only an order, then
    the age of what it names."""
    texts: list[str] = []
    numbers: list[int] = []
    ages: list[int] = []
    for item in plainly(part):
        if type(item) is Due:
            item = item.from_now(now_ms)
        if type(item) is str:
            texts += item.split(END)
        elif type(item) is Mark:
            texts.append(item.kind)
            if isinstance(item.value, int):
                numbers.append(item.value)
            else:
                ages.append(names.number(item.value))
    return texts, numbers + ages


def texts_of(parts: Mapping[str, Iterable[Item]], now_ms: int) -> dict[str, str]:
    """The text of each part, with ranks for what only has an order."""
    ranks = _ranks(parts.values(), now_ms)
    names: dict[tuple[str, Any], int] = {}
    known: dict[Piece, str] = {}
    """The text of each piece."""

    def told(item: Item) -> str:
        if type(item) is Piece:
            text = known.get(item)
            if text is None:
                text = known[item] = END.join(map(told, item.items))
            return text
        if type(item) is Due:
            item = item.from_now(now_ms)
        if type(item) is Mark:
            mark = (item.kind, item.value)
            rank = ranks.get(mark)
            return f"{item.kind} #{names.setdefault(mark, len(names)) if rank is None else rank}"
        return item  # type: ignore[return-value]

    return {
        label: END.join([item if type(item) is str else told(item) for item in part])
        for label, part in parts.items()
    }


def _ranks(parts: Iterable[Iterable[Item]], now_ms: int) -> dict[tuple[str, Any], int]:
    """By kind and number, the place of each marked number among those of its kind."""
    marks: dict[str, set[int]] = {}
    met: set[Piece] = set()
    for part in parts:
        for item in part:
            if type(item) is str:
                continue
            if type(item) is not Piece:
                _note(item, marks, now_ms)
            elif item not in met:
                met.add(item)
                for each in item.items:
                    _note(each, marks, now_ms)
    return {
        (kind, value): rank
        for kind, values in marks.items()
        for rank, value in enumerate(sorted(values))
    }


def _note(item: Item, marks: dict[str, set[int]], now_ms: int) -> None:
    if type(item) is Due:
        item = item.from_now(now_ms)
    if type(item) is Mark and type(item.value) is int:
        marks.setdefault(item.kind, set()).add(item.value)


def digest_of(text: bytes) -> str:
    """Sixteen hexadecimal digits."""
    return blake2b(text, digest_size=8).hexdigest()
