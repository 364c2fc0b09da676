"""Mutants: schedulers with one bug each, and the claim that must find it.

A bug is in a decision (what is decided of which pod), in a part (cache, queue, nominator), or in
what is written. Each mutant is the proving ground with such a scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import attrs

from actors.framework.cluster_events import POD_DELETED, wakes_of
from actors.framework.filter import Filter
from actors.framework.filters import FILTERS
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.decider import Decider
from actors.scheduler.decisions.decision import KEEP, Candidate, Decision, Preemption
from actors.scheduler.decisions.pick import Pick
from actors.scheduler.policies import decider_of, scores_of
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.proving_ground import GUEST, SMALL, contended_nodes, one_place
from actors.scheduler.queue.heap import Heap
from actors.scheduler.queue.priority_queue import SchedulingQueue
from actors.scheduler.queue.queued import Attempt, May
from actors.scheduler.schedule_one import SchedulerParts, SchedulingLoop
from actors.scheduler.scheduler import Scheduler
from actors.scheduler.switches import SchedulerSwitches
from actors.scheduler.writes.deed import Deed
from actors.scheduler.writes.fail import Failure
from actors.scheduler.wrong_parts import (
    BindsByName,
    ClearsElsewhere,
    Hasty,
    IgnoresTheirAntiAffinity,
)
from testbed.objects import Map, Pod
from testbed.testing.mutant import Mutant

# -- bugs in decisions ----------------------------------------------------------------------------

Before = Callable[[Pod], Pod]
After = Callable[[Decision, Snapshot], Decision]


@attrs.frozen
class NoNominations:
    """Nominations as if no pod had one."""

    nominated: Mapping[str, Sequence[PodInfo]] = attrs.field(factory=dict)


class AlteredDecider:
    """A decider that alters each pod before it is decided on, and each decision afterwards."""

    def __init__(self, inner: Any, before: Before, after: After, given: Map[Any]) -> None:
        self.inner, self.before, self.after, self.given = inner, before, after, given

    def decide(
        self, pod: Pod, snapshot: Snapshot, nominations: Any, budgets: Any, known: Any, now_ms: int
    ) -> Decision:
        """Decide as the decider inside does, but alter pod and decision."""

        def altered(other: Pod) -> Pod | None:
            found = known(other)
            return None if found is None else self.before(found)

        given = {"nominations": nominations, "budgets": budgets, **self.given}
        decision = self.inner.decide(
            self.before(pod), snapshot, known=altered, now_ms=now_ms, **given
        )
        return self.after(attrs.evolve(decision, pod=pod), snapshot)


def deciding(
    before: Before = lambda pod: pod,
    after: After = lambda decision, snapshot: decision,
    **given: Any,
) -> SchedulerParts:
    """The parts of a scheduler whose decisions are altered; `given` replaces what is decided by."""

    def decider(*settings: Any) -> AlteredDecider:
        return AlteredDecider(decider_of(*settings), before, after, Map(given))

    return SchedulerParts(decider=decider)


def more_important(pod: Pod) -> Pod:
    """Give the pod a priority higher by one."""
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, priority=pod.priority + 1))


def without_policy(pod: Pod) -> Pod:
    """Take away the pod's preemption policy."""
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, preemption_policy=""))


def not_nominated(pod: Pod) -> Pod:
    """Take away the pod's nomination."""
    return attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name=""))


def choosing(
    pick: Callable[[Preemption, Snapshot], Candidate],
) -> After:
    """Replace the candidate that was chosen."""

    def after(decision: Decision, snapshot: Snapshot) -> Decision:
        preemption = decision.preemption
        if preemption is None or preemption.chosen is None:
            return decision
        chosen = pick(preemption, snapshot)
        preemption = attrs.evolve(preemption, chosen=chosen)
        return attrs.evolve(decision, preemption=preemption, nominate=chosen.node)

    return after


def dearest(found: Preemption, snapshot: Snapshot) -> Candidate:
    """The candidate that costs most."""
    return max(found.candidates.values(), key=lambda each: each.keys)


def never_cleared(decision: Decision, snapshot: Snapshot) -> Decision:
    """Leave the nomination of a pod as it is where it is to be cleared."""
    return attrs.evolve(decision, nominate=decision.nominate or KEEP)


def with_far_victim(found: Preemption, snapshot: Snapshot) -> Candidate:
    """The chosen candidate, with a victim on another node added."""
    chosen = cast(Candidate, found.chosen)
    infos = [info for node in snapshot.infos for info in node.pods if node.name != chosen.node]
    far = min(infos, key=lambda info: info.priority).pod
    return attrs.evolve(chosen, victims=(*chosen.victims, far))


class NoReprieve:
    """A victim selector that reprieves no pod."""

    name = "spares nobody"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """All potential victims."""
        return dry.potential


class ReprieveLeastFirst:
    """A victim selector that reprieves the least important pods first, budgets or not."""

    name = "spares the least"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """The pods that could not be reprieved."""
        gone = []
        for info in reversed(dry.potential):
            dry.put_back(info)
            if not dry.fits():
                dry.take_away(info)
                gone.append(info)
        return gone


def selecting(selector: VictimSelector) -> SchedulerParts:
    """The parts of a scheduler that has this selector."""

    def decider(switches: Any, filters: Any, scores: Any, pick: Pick, more: Any) -> Decider:
        return Decider(switches, filters, (*scores_of(switches, scores), *more), pick, selector)

    return SchedulerParts(decider=decider)


# -- bugs in parts --------------------------------------------------------------------------------


class ForgetfulNominator(Nominator):
    """Does not read a pod's nomination from the pod, as it must after a restart."""

    def nominate(self, pod: Pod, node: str | None = None) -> None:
        super().nominate(pod, node or "")


class StickyNominator(Nominator):
    """Never drops a nomination, even if the pod is bound."""

    def drop(self, pod: Pod) -> None:
        if not self.node_of(info_of(pod).uid):
            super().drop(pod)


class NeverForgets(SchedulerCache):
    """Does not forget an assumed pod."""

    def forget(self, pod: Pod, node: str) -> PodInfo:
        return info_of(pod)


class DropsTerminating(SchedulerCache):
    """Removes a pod as soon as it is terminating."""

    def update_pod(self, pod: Pod) -> None:
        if pod.meta.is_terminating:
            self.remove_pod(pod)
        else:
            super().update_pod(pod)


class KeepsOver(SchedulerCache):
    """Still counts a pod that is over."""

    def remove_pod(self, pod: Pod) -> None:
        if not pod.is_over and pod.meta.is_terminating:
            super().remove_pod(pod)


class CountsTwice(SchedulerCache):
    """Counts an assumed pod a second time when the informer shows it."""

    def add_pod(self, pod: Pod) -> None:
        was_assumed = self.is_assumed(pod)
        super().add_pod(pod)
        node = self.node(pod.spec.node_name)
        if was_assumed and node is not None:
            node.add(info_of(pod))


class DeafToDeletions(SchedulingQueue):
    """Ignores the event that a pod was deleted."""

    def move(self, event: str, now_ms: int, may: May | None = None) -> bool:
        return event != POD_DELETED and super().move(event, now_ms, may)


class NeverFlushes(SchedulingQueue):
    """Never flushes the backoff queue."""

    @property
    def backoff_due_ms(self) -> int | None:
        return None


class DropsFailed(SchedulingQueue):
    """Does not requeue a pod that was not scheduled."""

    def failed(self, attempt: Attempt) -> str:
        return ""


class OldestFirst(SchedulingQueue):
    """Pops pods in the order in which they came, without regard to priority."""

    def __init__(
        self, nominator: Nominator, wakes: Mapping[str, frozenset[str]], switches: SchedulerSwitches
    ) -> None:
        super().__init__(nominator, wakes, switches)
        self._active = Heap(lambda queued: (queued.since_ms, queued.pod.key))


def queueing(kind: type[SchedulingQueue]) -> SchedulerParts:
    """The parts of a scheduler with a queue of that kind."""

    def queue(
        nominator: Nominator, switches: SchedulerSwitches, filters: Iterable[Filter]
    ) -> SchedulingQueue:
        return kind(nominator, wakes_of(filters), switches)

    return SchedulerParts(queue=queue)


# -- bugs in writes -------------------------------------------------------------------------------


class EvictsTooMany(SchedulingLoop):
    """Evicts one pod more than was decided."""

    async def refused(self, deed: Deed, decision: Decision) -> Failure:
        found, snapshot = decision.preemption, self.cycle_record.snapshot
        if found is not None and found.chosen is not None and snapshot is not None:
            chosen = with_far_victim(found, snapshot)
            found = attrs.evolve(found, chosen=chosen)
        return await super().refused(deed, attrs.evolve(decision, preemption=found))


# -- all of them ----------------------------------------------------------------------------------


def with_loop(
    loop: type[SchedulingLoop], ground: Callable[..., None] = contended_nodes, **settings: Any
) -> Callable[..., None]:
    """A proving ground, with a scheduler that runs that loop."""
    return partial(ground, scheduler=type("Mutated", (Scheduler,), {"loop": loop}), **settings)


def with_parts(parts: SchedulerParts, *ground: Callable[..., None], **more: Any) -> Any:
    """A proving ground, with a scheduler made of those parts."""
    return with_loop(type("Mutated", (SchedulingLoop,), {"parts": parts}), *ground, **more)


def _without(name: str) -> tuple[Filter, ...]:
    return tuple(each for each in FILTERS if each.name != name)


RANKS, NEED = "victims_are_less_important", "no_preemption_is_pointless"
PRICE, PATIENCE = "room_is_made_where_it_costs_least", "who_waits_does_not_preempt"
NOMINATIONS, FITS = "nominations_are_kept", "pods_go_where_they_fit"
PLACES, ACCOUNTS = "no_pod_is_lost", "accounts_are_balanced"
BUDGETS, REACH = "budgets_are_counted", "only_its_own_node_is_cleared"
ORDER, DEEDS, NEWS = (
    "the_most_important_is_tried_first", "deeds_are_decided", "nobody_waits_in_vain",
)  # fmt: skip
LEFT, RESTARTS, ROUNDS = "no_nomination_is_left_over", "restarts_forget_no_pod", "no_ping_pong"
GAINS, AGAIN = "each_preemption_is_a_gain", "room_is_made_again_only_if_lost"
IN_TIME = "who_has_room_is_placed_in_time"
MUTANTS = (
    Mutant("preempts-equals", "victims may be as important as the preemptor",
           with_parts(deciding(more_important)), RANKS),
    Mutant("never-preempts", "a pod with preemptionPolicy Never preempts",
           with_parts(deciding(without_policy)), RANKS),
    Mutant("no-reprieve", "no potential victim is reprieved",
           with_parts(selecting(NoReprieve())), NEED),
    Mutant("wrong-order", "the least important are reprieved first",
           with_parts(selecting(ReprieveLeastFirst())), PRICE),
    Mutant("dearest", "room is made where it costs most",
           with_parts(deciding(after=choosing(dearest))), PRICE),
    Mutant("impatient", "it preempts again while victims are terminating",
           with_parts(deciding(not_nominated)), PATIENCE),
    Mutant("forgets-nominations", "a nomination is not read from the pod",
           with_parts(SchedulerParts(nominator=ForgetfulNominator)), NOMINATIONS),
    Mutant("keeps-nominations", "a pod that is bound stays nominated",
           with_parts(SchedulerParts(nominator=StickyNominator)), NOMINATIONS),
    Mutant("nominated-not-cleared", "the less important keep their nominations",
           with_loop(ClearsElsewhere), NOMINATIONS),
    Mutant("no-two-pass", "no room is left for nominated pods",
           with_parts(deciding(nominations=NoNominations())), FITS),
    Mutant("no-symmetry", "the anti-affinity of pods on the node is ignored",
           partial(
               contended_nodes,
               filters=(*_without("InterPodAffinity"), IgnoresTheirAntiAffinity())),
           FITS),
    Mutant("no-taints", "taints are ignored",
           partial(contended_nodes, filters=_without("TaintToleration")), FITS),
    Mutant("never-forgets", "a pod that could not be bound stays assumed",
           with_parts(SchedulerParts(cache=NeverForgets)), PLACES),
    Mutant("loses-pods", "a pod that was not scheduled is not requeued",
           with_parts(queueing(DropsFailed)), PLACES),
    Mutant("no-flush", "the backoff queue is never flushed",
           with_parts(queueing(NeverFlushes)), PLACES),
    Mutant("ignores-terminating", "a terminating pod no longer counts",
           with_parts(SchedulerParts(cache=DropsTerminating)), ACCOUNTS),
    Mutant("counts-terminal", "a pod that is over still counts",
           with_parts(SchedulerParts(cache=KeepsOver)), ACCOUNTS),
    Mutant("counts-twice", "an assumed pod counts twice once it is bound",
           with_parts(SchedulerParts(cache=CountsTwice)), ACCOUNTS),
    Mutant("no-budgets", "disruption budgets are ignored",
           with_parts(deciding(budgets=())), BUDGETS),
    Mutant("reaches-far", "a pod on another node is a victim, too",
           with_parts(deciding(after=choosing(with_far_victim))), REACH),
    Mutant("fifo", "pods are scheduled in the order in which they came",
           with_parts(queueing(OldestFirst)), ORDER),
    Mutant("binds-by-name", "a bind names no uid",
           partial(contended_nodes, plugins=(BindsByName,)), DEEDS),
    Mutant("trigger-happy", "a pod is deleted that no decision names",
           with_loop(EvictsTooMany), DEEDS),
    Mutant("deaf", "the event of a deleted pod is ignored",
           with_parts(queueing(DeafToDeletions)), NEWS),
    Mutant("vain-hopes", "a pod that no room can be made for stays nominated",
           with_parts(deciding(after=never_cleared), one_place, comes=GUEST), LEFT),
    Mutant("hasty", "it begins before all informers have listed", with_loop(Hasty), RESTARTS),
    Mutant("takes-turns", "a pod goes for one that is as important, and comes again",
           with_parts(deciding(more_important), one_place, priority=0, again=True), ROUNDS),
    Mutant("no-gain", "a pod goes for one that is as important",
           with_parts(deciding(more_important), one_place, priority=0), GAINS),
    Mutant("gives-away", "the room that it has made is given to others",
           with_parts(deciding(nominations=NoNominations()), one_place, comes=SMALL), AGAIN),
    Mutant("sleeps", "a pod is not told that its victims are gone",
           with_parts(queueing(DeafToDeletions), one_place), IN_TIME),
)  # fmt: skip
"""Each mutant with the claim that must kill it."""
