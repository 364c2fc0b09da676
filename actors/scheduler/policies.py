"""Policies: who decides in a scheduler, as its switches and its constructor name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.framework.filter import Filter
from actors.framework.filters import filter_classes
from actors.framework.podinfo import PodInfo
from actors.scheduler.decider import Decider, Pick
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.preemption.victims import selector_of
from actors.scheduler.score import Score
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.switches import SchedulerSwitches
from testbed.policy import BUILT_IN, chosen, made


def filters_of(switches: SchedulerSwitches, usual: Sequence[Filter]) -> tuple[Filter, ...]:
    """What may say no to a node, in the order in which they are asked."""
    if switches.filters == BUILT_IN:
        return chosen(BUILT_IN, usual)
    named = {word.lstrip("+-") for word in switches.filters.split(",")}
    found = [made() for name, made in filter_classes().items() if name in named]
    return chosen(switches.filters, usual, found)


def scores_of(switches: SchedulerSwitches, usual: Sequence[Score]) -> tuple[Score, ...]:
    """What likes one node more than another: the usual ones are those of the placement, unless a
    scenario has said others."""
    others = [score for scores in PLACEMENTS.values() for score in scores]
    return chosen(switches.scores, usual or PLACEMENTS[switches.placement], others)


class OwnSelector:
    """A user's own: TypeError if it lets anybody go who may not."""

    def __init__(self, own: VictimSelector) -> None:
        self.name = own.name
        self._own = own

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """Whom it says, of those that may go."""
        said: Any = self._own.victims(dry)
        if not isinstance(said, list | tuple) or any(each not in dry.potential for each in said):
            wanted = "expected a list of some of dry_run.potential"
            raise TypeError(f"{self.name}.victims gave a {type(said).__name__}: {wanted}")
        return said


def selector_in(switches: SchedulerSwitches) -> VictimSelector:
    """Who says which pods have to go."""
    if switches.victims == BUILT_IN:
        return selector_of(switches.victim_minimisation, switches.reprieve_order)
    return OwnSelector(made(switches.victims))


def decider_of(
    switches: SchedulerSwitches,
    filters: Sequence[Filter],
    scores: Sequence[Score],
    pick: Pick,
    more: Sequence[Score] = (),
) -> Any:
    """Who decides of one pod after the other: anything that decides as a Decider does. `more` are
    scores that it has besides its own."""
    if switches.decider != BUILT_IN:
        return made(switches.decider)
    liked = (*scores_of(switches, scores), *more)
    return Decider(switches, filters, liked, pick, selector_in(switches))
