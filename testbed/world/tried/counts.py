"""TriedCounts: what was tried in a Run or in many, as data.

A verdict is worth as much as what was tried. In a Run in which no write of any actor was served, or
in which no claim ever saw an object of the kind that it is about, nothing could break: that no
claim was breached says nothing. So of each Run it is counted what was tried, and counts add up.

It is a table of counts by name. To add up two of them is to add up these, in whatever order; so the
sum is the same for any number of worker processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Self

import attrs

NOTHING = "nothing"
"""How many Runs tried nothing, by reason."""
WROTE, READ = "wrote", "read"
"""How many writes, and how many reads, of an actor were served; 0 for one that had none."""
REFUSED = "refused"
"""How many requests were refused, by actor, code, reason and text."""
WAITED = "waited"
"""In how many Runs an actor still had timers at the end."""
PASSED = "passed"
"""How many timers of a task have ended, if it ever had one."""
JUDGED, ABSENT = "judged", "absent"
"""In how many Runs a claim had something to judge; and in how many it looked at a kind of objects
of which there never was any."""
UNHEARD = "unheard"
"""In how many Runs a claim looked at what actors record, and nobody recorded anything."""
STRUCK = "struck"
"""How often an allowed fault has struck."""

WORDS = (NOTHING, WROTE, READ, REFUSED, WAITED, PASSED, JUDGED, ABSENT, UNHEARD, STRUCK)
Names = tuple[str, ...]
"""What is counted, first one of the words above."""


@attrs.frozen
class TriedCounts:
    """What was tried in that many Runs."""

    runs: int = 0
    ms_max: int = 0
    """The latest virtual time at which one of them ended."""
    counts: Counter[Names] = attrs.field(factory=Counter)
    """Everything that is counted, also what was counted 0 times."""

    def add(self, other: TriedCounts) -> TriedCounts:
        """Return what was tried in the Runs of both."""
        counts = self.counts.copy()
        counts.update(other.counts)
        return TriedCounts(self.runs + other.runs, max(self.ms_max, other.ms_max), counts)

    def under(self, word: str, *first: str) -> Iterator[tuple[Names, int]]:
        """Yield what is counted under that word, by name, in order."""
        begin = (word, *first)
        for names in sorted(self.counts):
            if names[: len(begin)] == begin:
                yield names[len(begin) :], self.counts[names]

    def never(self, word: str) -> list[str]:
        """Return what was counted 0 times under that word."""
        return [names[0] for names, count in self.under(word) if not count]

    @property
    def why_nothing(self) -> str:
        """Why nothing was tried in any of the Runs; empty if something was tried in one."""
        whys = [*self.under(NOTHING)]
        if not self.runs or sum(count for _, count in whys) < self.runs:
            return ""
        (why,), _ = max(whys, key=lambda each: each[1])
        return why

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        rows = [[*names, count] for names, count in sorted(self.counts.items())]
        return {"runs": self.runs, "ms_max": self.ms_max, "counts": rows}

    def as_dict(self) -> dict[str, Any]:
        """Return it as a reader of JSON wants it: by word, then by name."""
        return {
            "runs": self.runs,
            "ms_max": self.ms_max,
            **{word: [[*names, count] for names, count in self.under(word)] for word in WORDS},
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """Make it again from what `as_data` returned."""
        rows: Sequence[Sequence[Any]] = data["counts"]
        counts = Counter({tuple(row[:-1]): row[-1] for row in rows})
        return cls(data["runs"], data["ms_max"], counts)
