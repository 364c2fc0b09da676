"""pct: the process of highest priority moves, until a change point lowers it below all others.

Priorities are drawn, and so are a few change points over the effects that a Run may have. A race
that needs d things in order is met with a chance of at least 1 in n · k^(d-1) each Run, for n
processes and k effects, however unlikely a random walk is to meet it (probabilistic concurrency
testing).

One process that polls without end, ahead of those it waits for, would keep them from moving. So
after a prefix that the calm run would fit into several times, any process moves, each alike.
"""

from __future__ import annotations

from testbed.chooser import RunInfo
from testbed.choosers.sampling.sampler import Sampler, by_process
from testbed.turns.option import Option

CHANGES_MAX = 3
"""Change points of a Run, 1 to so many, each as likely: one too many can spoil a simple race."""
FAIR_AFTER = 4
"""So many lengths of the calm run, and 100 effects: the prefix. It is not learnt, since each Run
that reached it would make it longer for the next."""


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
        highest = self._highest(processes)
        while self._changes and self.effects >= self._changes[0]:
            del self._changes[0]
            self._priorities[highest] = len(self._changes)
            highest = self._highest(processes)
        return self.chance.one_of(processes[highest])

    def _highest(self, processes: dict[str, list[Option]]) -> str:
        return max(processes, key=self._priorities.__getitem__)
