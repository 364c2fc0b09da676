"""Lasting: what a Likeness keeps from one moment of a World to the next.

Most of what a World holds never changes, such as every object that was ever committed. What was
written of that is kept, so a moment costs what is new in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.invariants.lasso.renaming import Renaming
from testbed.invariants.lasso.written import Piece
from testbed.objects.condition import Condition
from testbed.objects.watched import Watched, WatchedText, plain, plain_text

FINE = "fine time"
TIMES = ("time", FINE)
"""The shapes of fields that are times; actors compare the fine ones with their clock."""
FROM_NOW, IF_TO_COME = "from now", "if to come"
"""How a time is written: by how far it is from now, always or if it is to come."""
SENTENCES = (Condition, "message")
"""What a condition says to people: a class, and a field of it."""
PIECES_MAX = 10_000
"""Of how many values the pieces are kept from one moment to the next."""


class Listed(list[Any]):
    """A list that is made only to be written. Nothing else holds it, so it is never met again."""


class Lasting:
    """What is kept from one moment of a World to the next: what was written of values that never
    change, and how each type is written."""

    def __init__(self, *, with_messages: bool = True) -> None:
        self._left_out = () if with_messages else (SENTENCES,)
        """The fields that are not written, each with its class."""
        self._pieces: dict[int, tuple[object, Piece]] = {}
        """By id, and with the value itself, so that no other one gets its address."""
        self.ways: dict[type, Callable[[Any, Any], None]] = {
            Watched: lambda likeness, number: likeness.write(plain(number)),
            WatchedText: lambda likeness, text: likeness.write(plain_text(text)),
        }
        """How each type that was met is written."""
        self.plans: dict[type, list[tuple[str, str, bool]]] = {}
        """The fields of each class that never changes: how each is written if it is a time, and
        whether its rank counts if it is none."""

    def piece_at(self, address: int, names: Renaming) -> Piece | None:
        """What was written of the value there; None if nothing was, or a name in it was learned
        since."""
        found = self._pieces.get(address)
        if found is None:
            return None
        piece = found[1]
        if piece.learned < len(names.learned):
            if piece.names(names.learned[piece.learned :]):
                return None
            piece.learned = len(names.learned)
        return piece

    def keep(self, address: int, value: object, piece: Piece) -> None:
        """Keep what was written of a value that never changes, and the value with it."""
        if len(self._pieces) >= PIECES_MAX:
            self._pieces.clear()
        self._pieces[address] = (value, piece)

    def plan(self, kind: type) -> None:
        """Note how the fields of a class are written."""
        self.plans[kind] = [
            (each.name, *time_of(each))
            for each in attrs.fields(kind)
            if (kind, each.name) not in self._left_out
        ]


def time_of(field: attrs.Attribute[Any]) -> tuple[str, bool]:
    """How a field is written if it is a time, else an empty text; and whether its rank counts if it
    is none."""
    name, shape = field.name, field.metadata.get("shape")
    is_age = name == "created_ms" or name.endswith("_at_ms")
    if shape not in TIMES:
        return "", is_age
    return (FROM_NOW if shape == FINE or name == "deleted_ms" else IF_TO_COME), is_age
