"""What a kind of recorded case is: how its lines are recognised, and what is compared."""

from __future__ import annotations

from typing import Any, Protocol

Line = dict[str, Any]


class Shape(Protocol):
    """One kind of line; `shapes.py` lists them all."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def why_not(self) -> str:
        """Why its cases are not compared yet; empty: they are."""
        ...

    @property
    def tally(self) -> str:
        """In which line of the summary its cases are counted."""
        ...

    def fits(self, line: Line) -> bool:
        """Whether that line is one of these, by what stands in it."""
        ...

    def differences(self, line: Line) -> list[str]:
        """In what ours differs from what the real one did, a line of text each; none: it agrees."""
        ...
