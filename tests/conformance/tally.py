"""Tally: how many cases were compared and how many agree, a summary line for each kind."""

from __future__ import annotations

import attrs

SHOWN = 5
"""So many differing cases of a file are shown in full."""
SAID = {
    "conformance": "conformance: {} cases, {} agree",
    "timelines": "timelines: {}, {} agree",
}
"""The lines there are, in order."""


@attrs.define
class Tally:
    """The counts over all files."""

    cases: dict[str, int] = attrs.field(factory=dict)
    agree: dict[str, int] = attrs.field(factory=dict)

    def count(self, what: str, *, agrees: bool) -> None:
        """Count one more case."""
        self.cases[what] = self.cases.get(what, 0) + 1
        self.agree[what] = self.agree.get(what, 0) + agrees

    def add(self, other: Tally) -> None:
        """All that another has counted."""
        for what in other.cases:
            self.cases[what] = self.cases.get(what, 0) + other.cases[what]
            self.agree[what] = self.agree.get(what, 0) + other.agree[what]

    def __str__(self) -> str:
        return "\n".join(
            said.format(self.cases[what], self.agree[what])
            for what, said in SAID.items()
            if what in self.cases
        )
