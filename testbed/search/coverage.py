"""Coverage: what all Runs of a search have shown, and how likely the next Run shows more.

A Run shows *pairs*: two accesses of one key that came one after the other and clashed, named by the
roles of those who made them. All pairs of a Run together are its *way*.

1. Count the Runs that have shown something that no other Run has. Divided by the number of Runs,
   this estimates the chance that the next Run shows something new (the estimate of Good and Turing,
   for samples that hold many things at once).
2. If there is no such Run, that estimate would be 0, which is too much to claim. Then the rule of
   three gives a bound: if the chance were 3 in N or more, N Runs would have shown such a thing in
   19 cases out of 20.

Both assume that the next Run is drawn as the Runs before it were. That is not quite so, because the
shares of the Choosers change; so the figure is for people, and no decision rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from testbed.words import counted

SEEN_MAX = 1_000_000
"""How many different pairs and ways are remembered; more are taken for new each time."""

RULE_OF = 3
"""What never came in N Runs most likely has a chance below 3 in N."""


class Coverage:
    """The pairs and ways that the Runs of a search have shown."""

    def __init__(self) -> None:
        self.runs = 0
        self.pairs = 0
        """How many different pairs."""
        self.ways = 0
        """How many different ways."""
        self._first: dict[str, int] = {}
        """By pair or way: the first Run that has shown it."""
        self._again: set[str] = set()
        """The pairs and ways that another Run has shown since."""

    def add(self, run: int, pairs: Sequence[str]) -> tuple[int, int]:
        """Take in one more Run; return how many of its pairs are new, and 1 if its way is new."""
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
        """How many Runs have shown something that no other Run has."""
        return len({run for thing, run in self._first.items() if thing not in self._again})

    @property
    def chance_of_more(self) -> str:
        """The chance that the next Run shows something new, in words."""
        if not self.alone:
            if self.runs <= RULE_OF:
                return f"not known after {counted(self.runs, 'run')}"
            return f"likely under {RULE_OF} in {self.runs:,}"
        return f"about 1 in {round(self.runs / self.alone):,}"
