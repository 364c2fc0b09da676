"""Column: one column of a kind's table: its title, and the cell of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.attended.http.tables.age import age
from testbed.objects.meta import Object

Cell = Callable[[Any, int], str | int | bool]
"""From an object and the time now to what stands in its row."""
NONE = "<none>"


@attrs.frozen
class Column:
    """One column of a kind's table."""

    name: str
    """Its title; kubectl prints it in capitals."""
    cell: Cell
    """What stands in it for an object."""
    type: str = "string"
    """What the cells are: string, integer or boolean."""
    is_wide: bool = False
    """Whether only `-o wide` prints it."""
    format: str = ""
    """`name` for the column that names the object."""

    @property
    def tree(self) -> dict[str, Any]:
        """It as a table defines it."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": int(self.is_wide),
        }


def number(name: str, cell: Cell) -> Column:
    """A column of whole numbers."""
    return Column(name, cell, "integer")


def wide(name: str, cell: Cell) -> Column:
    """A column that only `-o wide` prints."""
    return Column(name, cell, is_wide=True)


def beside(item: Object, part: str, name: str) -> Any:
    """A field of its spec or status that its class does not model; None if it is unset."""
    rest = item.extra.get(part)
    return rest.get(name) if isinstance(rest, Mapping) else None


NAME = Column("Name", lambda item, _: item.meta.name, format="name")
AGE = Column("Age", lambda item, now_ms: age(item.meta.created_ms, now_ms))
