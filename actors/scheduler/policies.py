"""Policies: the filters, scores and other parts of a scheduler, as switches name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.framework.filter import Filter
from actors.framework.filters import FILTERS, filter_classes
from actors.framework.podinfo import PodInfo
from actors.scheduler.decider import Decider
from actors.scheduler.decisions.pick import Pick
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.preemption.victims import selector_of
from actors.scheduler.score import Score
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.switches import SchedulerSwitches
from testbed.policy import BUILT_IN, chosen, made


def filters_of(switches: SchedulerSwitches, usual: Sequence[Filter]) -> tuple[Filter, ...]:
    """The filters that a scheduler runs, in their order: `usual` ones and those that are named."""
    if switches.filters == BUILT_IN:
        return FILTERS if usual is FILTERS else chosen(BUILT_IN, usual)
    named = {word.lstrip("+-") for word in switches.filters.split(",")}
    found = [made() for name, made in filter_classes().items() if name in named]
    return chosen(switches.filters, usual, found)


def scores_of(switches: SchedulerSwitches, usual: Sequence[Score]) -> tuple[Score, ...]:
    """The scores that a scheduler runs. `usual` are those that a scenario gives; if it gives none,
    those of the switch `placement`."""
    if switches.scores == BUILT_IN and not usual:
        return PLACEMENTS[switches.placement]
    others = [score for scores in PLACEMENTS.values() for score in scores]
    return chosen(switches.scores, usual or PLACEMENTS[switches.placement], others)


class OwnSelector:
    """A user's VictimSelector, checked: TypeError if it gives pods that may not be evicted."""

    def __init__(self, own: VictimSelector) -> None:
        self.name = own.name
        self._own = own

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """The victims that it gives."""
        given: Any = self._own.victims(dry)
        if not isinstance(given, list | tuple) or any(each not in dry.potential for each in given):
            wanted = "expected a list of some of dry_run.potential"
            raise TypeError(f"{self.name}.victims gave a {type(given).__name__}: {wanted}")
        return given


def selector_in(switches: SchedulerSwitches) -> VictimSelector:
    """The part that selects the victims."""
    if switches.victims == BUILT_IN:
        return selector_of(switches)
    return OwnSelector(made(switches.victims))


def decider_of(
    switches: SchedulerSwitches,
    filters: Sequence[Filter],
    scores: Sequence[Score],
    pick: Pick,
    more: Sequence[Score] = (),
) -> Any:
    """The Decider of a scheduler, or a user's own class with the same `decide`. `more` are scores
    that are always added."""
    if switches.decider != BUILT_IN:
        return made(switches.decider)
    liked = (*scores_of(switches, scores), *more)
    return Decider(switches, filters, liked, pick, selector_in(switches))
