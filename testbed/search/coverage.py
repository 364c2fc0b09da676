"""Coverage: what all Runs of a search together have shown, and how likely the next shows more.

What a Run shows are its *pairs*, accesses of one key that came one after the other and clashed,
told by their roles; and its *way*, all of them together. The chance that the next Run shows a new
one is what it was for the Runs so far, each taken as the last of all: how many of them have shown
something that no other has (after Good and Turing, for samples of many things at once). If none
has, that estimates nothing; but a chance of 3 in N or more would have shown in N Runs, in 19 cases
of 20 (the rule of three: a thing that comes with chance p shows alone or not at all so seldom).
Both are estimates: they take the next Run to be drawn as those before it were.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from testbed.words import counted

SEEN_MAX = 1_000_000
"""So many things are remembered."""

RULE_OF = 3
"""What never came in N Runs has most likely a chance below so many in N."""


class Coverage:
    """Pairs and ways seen, and by how many Runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.pairs = 0
        """How many different ones."""
        self.ways = 0
        self._first: dict[str, int] = {}
        """By thing: which Run has shown it first."""
        self._again: set[str] = set()
        """Those another Run has shown since."""

    def add(self, run: int, pairs: Sequence[str]) -> tuple[int, int]:
        """One more Run and its pairs: how many of them are new, and whether its way is."""
        self.runs += 1
        text = "\n".join(pairs).encode()
        new_ways = self._see(run, f"{len(pairs)} {crc32(text)} {crc32(text, 1)}")
        new_pairs = sum(self._see(run, pair) for pair in pairs)
        self.pairs += new_pairs
        self.ways += new_ways
        return new_pairs, new_ways

    def _see(self, run: int, thing: str) -> bool:
        if thing in self._first:
            self._again.add(thing)
            return False
        if len(self._first) < SEEN_MAX:
            self._first[thing] = run
        return True

    @property
    def alone(self) -> int:
        """How many Runs have shown something that no other has."""
        return len({run for thing, run in self._first.items() if thing not in self._again})

    @property
    def chance_of_more(self) -> str:
        """The chance that the next Run shows something new, as people say it."""
        if not self.alone:
            if self.runs <= RULE_OF:
                return f"not known after {counted(self.runs, 'run')}"
            return f"likely under {RULE_OF} in {self.runs:,}"
        return f"about 1 in {round(self.runs / self.alone):,}"
