"""pct: the process of highest priority moves, until a change point lowers it below all others.

Priorities are drawn, and so are a few change points over the effects that a Run may have. A race
that needs d things in order is met with a chance of at least 1 in n · k^(d-1) in each Run, for n
processes and k effects, however unlikely a random walk is to meet it (probabilistic concurrency
testing).

A process of high priority that polls without end would keep those it waits for from moving. So
after a prefix, several times as long as the calm run, all processes are drawn with equal chances.
"""

from __future__ import annotations

from testbed.chooser import RunInfo
from testbed.choosers.sampling.sampler import Sampler, by_process
from testbed.turns.option import Option

CHANGES_MAX = 3
"""A Run has 1 to 3 change points, with equal chances: one too many can spoil a simple race."""
FAIR_AFTER = 4
"""The prefix is 100 effects and 4 times the length of the calm run. It is not learnt: each Run that
reached its end would make it longer for the next."""


class PCT(Sampler):
    """Priorities with random change points."""

    def begun(self, run: RunInfo) -> None:
        self._priorities: dict[str, int] = {}
        self._prefix = 100 + FAIR_AFTER * run.turns_expected()
        changes = 1 + self.chance.below(CHANGES_MAX)
        self._changes = self.chance.places(changes, min(self.effects_expected, self._prefix))

    def effect(self, ready: list[Option]) -> Option:
        processes = by_process(ready)
        if self.effects >= self._prefix:
            return self.chance.one_of(processes[self.chance.one_of([*processes])])
        for path in processes:
            if path not in self._priorities:
                self._priorities[path] = CHANGES_MAX + self.chance.bits(64)
        # Why the chance is as good as that: a race of depth d has d - 1 places where another
        # process must take over. One drawn change point is such a place with 1 in k, and the
        # process that must wait from the start has the lowest priority with 1 in n. A process
        # that is lowered gets a priority below all drawn ones and all lowered before, so it waits
        # until no other process can move.
        highest = self._highest(processes)
        while self._changes and self.effects >= self._changes[0]:
            del self._changes[0]
            self._priorities[highest] = len(self._changes)
            highest = self._highest(processes)
        return self.chance.one_of(processes[highest])

    def _highest(self, processes: dict[str, list[Option]]) -> str:
        return max(processes, key=self._priorities.__getitem__)
