"""Shape: a kind of recorded case, how its lines are recognised, and what is compared."""

from __future__ import annotations

from typing import Any, Protocol

Line = dict[str, Any]


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

    def fits(self, line: Line) -> bool:
        """Whether a line is of this kind, by its fields."""
        ...

    def differences(self, line: Line) -> list[str]:
        """The differences between ours and the real scheduler, a line of text each; none if it
        agrees."""
        ...
