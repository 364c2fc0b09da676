"""Victims: the built-in ways to choose the victims among the potential ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from actors.framework.podinfo import PodInfo
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.preemption.importance import quality
from actors.scheduler.switches import SchedulerSwitches

SETS_MAX = 10_000
"""The most sets of pods that are tried on one node; after that the greedy set is taken."""


class Greedy:
    """Reprieves one pod after another if the preemptor still fits, as Kubernetes does (SCH-85).

    Pods that a budget protects are tried first; within each group the most important first, or, in
    `asc` order, the least important. The result is the least important set, not the smallest
    (SCH-86).
    """

    name = "greedy"

    def __init__(self, order: str = "desc") -> None:
        self.order = order

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """The pods that could not be reprieved, in the order in which they were tried."""
        groups = [dry.violating, dry.others]
        if self.order == "asc":
            groups = [group[::-1] for group in groups]
        # All potential victims are off the node. Each pod that is put back takes room from those
        # tried after it, so the order is the policy: protected pods first, as a broken budget is
        # worse than any priority; then the most important, as it is the last that should go.
        return [info for group in groups if group for info in dry.reprieve(group)]


class Fewest:
    """The smallest set of victims among those that break the fewest budgets.

    Of the sets of that size, the one with the lowest priorities (SCH-86). Every smaller set was
    tried, so none of its pods could have been reprieved.
    """

    name = "min_count"

    def __init__(self, *, hostile: bool = False, is_by_class: bool = False) -> None:
        self.hostile = hostile
        """Whether any pod of the preemptor's own scheduler counts more than all of others."""
        self.is_by_class = is_by_class
        """Whether a better QoS class counts more than any priority."""

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """The best set; the greedy one if there are too many sets to try."""
        greedy = Greedy().victims(dry)
        protected = {info.uid for info in dry.violating}
        broken = sum(info.uid in protected for info in greedy)
        # The greedy set is a solution. So only sets with fewer violations are tried, of any size,
        # and sets with as many violations that are no larger.
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
        """The sets of that size that hold that number of protected pods."""
        for some in combinations(dry.violating, violations):
            if dry.tried < SETS_MAX and self._may_suffice(dry, some):
                for rest in combinations(dry.others, size - violations):
                    if dry.tried >= SETS_MAX:
                        return
                    yield [*some, *rest]

    def _may_suffice(self, dry: DryRun, some: Sequence[PodInfo]) -> bool:
        """Whether these and some of those that no budget protects may be enough."""
        return not dry.pod.gains_by_removals or dry.fits_without([*some, *dry.others])

    def _loss(
        self, dry: DryRun, gone: Sequence[PodInfo]
    ) -> tuple[list[tuple[bool, int, int]], list[int]]:
        """The priorities lost, the highest first; if they are equal, less important pods win."""
        owner = dry.pod.pod.spec.scheduler_name
        places = sorted(dry.potential.index(info) for info in gone)
        lost = [dry.potential[n] for n in places]
        own = [not self.hostile or info.pod.spec.scheduler_name == owner for info in lost]
        classes = [-quality(info.pod) if self.is_by_class else 0 for info in lost]
        priorities = [info.priority for info in lost]
        return list(zip(own, classes, priorities, strict=True)), [-n for n in places]


def selector_of(switches: SchedulerSwitches) -> VictimSelector:
    """The selector that the switches name."""
    if switches.victim_minimisation == "min_count":
        return Fewest(hostile=switches.hostile, is_by_class=switches.victim_primary == "qos")
    return Greedy(switches.reprieve_order)
