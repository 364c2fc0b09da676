"""Victims: who has to go of those that may; the ways to choose them that are built in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from actors.framework.podinfo import PodInfo
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector

SETS_MAX = 10_000
"""So many sets of pods are tried on one node; then what was found without is taken."""


class Greedy:
    """Spares one after the other, if the pod fits all the same: as the real one does (SCH-85).

    Those that a budget protects come first; within each group the more important, or, in `asc`
    order, the less important. It loses the least important, not the fewest (SCH-86).
    """

    name = "greedy"

    def __init__(self, order: str = "desc") -> None:
        self.order = order

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """Those that cannot be spared, as they come."""
        groups = [dry.violating, dry.others]
        if self.order == "asc":
            groups = [group[::-1] for group in groups]
        return [info for group in groups for info in group if not dry.spare(info)]


class Fewest:
    """The fewest that will do: of them those that break the fewest budgets, and above all that.

    Of as few, those of the lowest priorities (SCH-86). Every smaller set was tried, so none of
    them could have been spared.
    """

    name = "min_count"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """The best set; the greedy one if there are too many to try."""
        greedy = Greedy().victims(dry)
        protected = {info.uid for info in dry.violating}
        broken = sum(info.uid in protected for info in greedy)
        for violations in range(broken + 1):
            largest = len(greedy) if violations == broken else len(dry.potential)
            for size in range(max(violations, 1), largest + 1):
                sets = self._sets(dry, violations, size)
                fitting = [each for each in sets if dry.fits_without(each)]
                if dry.tried >= SETS_MAX:
                    return greedy
                if fitting:
                    return min(fitting, key=lambda each: self._loss(dry, each))
        return greedy

    def _sets(self, dry: DryRun, violations: int, size: int) -> Iterator[list[PodInfo]]:
        for some in combinations(dry.violating, violations):
            if dry.tried < SETS_MAX and dry.fits_without([*some, *dry.others]):
                for rest in combinations(dry.others, size - violations):
                    if dry.tried >= SETS_MAX:
                        return
                    yield [*some, *rest]

    def _loss(self, dry: DryRun, gone: Sequence[PodInfo]) -> tuple[list[int], list[int]]:
        places = sorted(dry.potential.index(info) for info in gone)
        return [dry.potential[n].priority for n in places], [-n for n in places]


def selector_of(minimisation: str, order: str) -> VictimSelector:
    """The one that the switches name."""
    return Fewest() if minimisation == "min_count" else Greedy(order)
