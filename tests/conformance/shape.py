"""Shape: a kind of recorded case, how its lines are recognised, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Line = dict[str, Any]


def unlike(ours: Mapping[str, Any], expect: Mapping[str, Any]) -> list[str]:
    """Each field that differs, or that only one of the two has."""
    return [
        f"{name}: expected {expect.get(name)!r}, found {ours.get(name)!r}"
        for name in sorted({*ours, *expect})
        if ours.get(name) != expect.get(name)
    ]


class Shape(Protocol):
    """One kind of line; `shapes.py` lists them all."""

    @property
    def name(self) -> str:
        """Its name, for people."""
        ...

    @property
    def why_not(self) -> str:
        """Why its cases are not compared yet; empty: they are."""
        ...

    @property
    def tally(self) -> str:
        """The line of the summary in which its cases are counted."""
        ...

    @property
    def spread(self) -> int:
        """Of that many cases of it, one is compared in the usual run; of 1, all are."""
        ...

    def fits(self, line: Line) -> bool:
        """Whether a line is of this kind, by its fields."""
        ...

    def differences(self, line: Line) -> list[str]:
        """The differences between ours and the real scheduler, a line of text each; none if it
        agrees."""
        ...
