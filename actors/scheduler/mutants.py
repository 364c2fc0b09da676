"""Schedulers with a bug each, and the claim that must find it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import attrs

from actors.framework.cluster_events import POD_DELETED
from actors.framework.filter import Filter, State
from actors.framework.filters import FILTERS
from actors.framework.filters.inter_pod_affinity import InterPodAffinityFilter
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.framework.tally import Tally
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.decisions.decision import Candidate, Decision, Preemption
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.proving_ground import bustle
from actors.scheduler.queue.heap import Heap
from actors.scheduler.queue.priority_queue import SchedulingQueue
from actors.scheduler.queue.queued import Attempt, May
from actors.scheduler.schedule_one import SchedulingLoop
from actors.scheduler.scheduler import Scheduler
from actors.scheduler.writes.fail import Failure
from testbed import Client, Operation
from testbed.objects import Binding, Map, Meta, Pod, Target
from testbed.testing.mutant import Mutant

# -- decisions ------------------------------------------------------------------------------------

Before = Callable[[Pod], Pod]
After = Callable[[Decision, Snapshot], Decision]


@attrs.frozen
class Nobody:
    """Nobody is nominated anywhere."""

    nominated: Mapping[str, Sequence[PodInfo]] = attrs.field(factory=dict)


class Altered:
    """Decides of a pod that it takes for another, or says something else than it has decided."""

    def __init__(self, inner: Any, before: Before, after: After, given: Map[Any]) -> None:
        self.inner, self.before, self.after, self.given = inner, before, after, given

    def decide(
        self, pod: Pod, snapshot: Snapshot, nominations: Any, budgets: Any, known: Any, now_ms: int
    ) -> Decision:
        """What the one within decides, altered."""

        def known_as(other: Pod) -> Pod | None:
            found = known(other)
            return None if found is None else self.before(found)

        given = {"nominations": nominations, "budgets": budgets, **self.given}
        decision = self.inner.decide(
            self.before(pod), snapshot, known=known_as, now_ms=now_ms, **given
        )
        return self.after(attrs.evolve(decision, pod=pod), snapshot)


def deciding(
    before: Before = lambda pod: pod,
    after: After = lambda decision, snapshot: decision,
    **given: Any,
) -> Callable[[SchedulingLoop], None]:
    """One whose decisions are so altered."""

    def alter(office: SchedulingLoop) -> None:
        office.decider = Altered(office.decider, before, after, Map(given))

    return alter


def more_important(pod: Pod) -> Pod:
    """Takes a pod for a little more important than it is."""
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, priority=pod.priority + 1))


def no_never(pod: Pod) -> Pod:
    """Does not see that a pod must never preempt."""
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, preemption_policy=""))


def not_nominated(pod: Pod) -> Pod:
    """Does not see that a pod is nominated."""
    return attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name=""))


def choosing(
    pick: Callable[[Preemption, Snapshot], Candidate],
) -> After:
    """Makes room in another way than was found best."""

    def after(decision: Decision, snapshot: Snapshot) -> Decision:
        preemption = decision.preemption
        if preemption is None or preemption.chosen is None:
            return decision
        chosen = pick(preemption, snapshot)
        preemption = attrs.evolve(preemption, chosen=chosen)
        return attrs.evolve(decision, preemption=preemption, nominate=chosen.node)

    return after


def dearest(found: Preemption, snapshot: Snapshot) -> Candidate:
    """The one that costs most."""
    return max(found.candidates.values(), key=lambda each: each.keys)


def far_ones_too(found: Preemption, snapshot: Snapshot) -> Candidate:
    """Takes somebody of another node along."""
    chosen = cast(Candidate, found.chosen)
    infos = [info for node in snapshot.infos for info in node.pods if node.name != chosen.node]
    far = min(infos, key=lambda info: info.priority).pod
    return attrs.evolve(chosen, victims=(*chosen.victims, far))


class SparesNobody:
    """Lets everybody go that may."""

    name = "spares nobody"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """All of them."""
        return dry.potential


class SparesTheLeast:
    """Spares the least important first, whether a budget protects them or not."""

    name = "spares the least"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """Who could not be spared."""
        gone = []
        for info in reversed(dry.potential):
            dry.put_back(info)
            if not dry.fits():
                dry.take_away(info)
                gone.append(info)
        return gone


def selecting(selector: VictimSelector) -> Callable[[SchedulingLoop], None]:
    """One that asks this for the victims."""

    def alter(office: SchedulingLoop) -> None:
        office.decider._selector = selector

    return alter


# -- books ----------------------------------------------------------------------------------------


class ForgetfulOfNominations(Nominator):
    """Does not read from a pod where it is nominated, as it should after a restart."""

    def nominate(self, pod: Pod, node: str | None = None) -> None:
        super().nominate(pod, node or "")


class Faithful(Nominator):
    """Holds whom it has once held, bound or not."""

    def drop(self, pod: Pod) -> None:
        if not self.node_of(info_of(pod).uid):
            super().drop(pod)


class Clinging(SchedulerCache):
    """Does not forget whom it has assumed."""

    def forget(self, pod: Pod, node: str) -> PodInfo:
        return info_of(pod)


class Hasty(SchedulerCache):
    """Takes a pod that is to go for gone."""

    def update_pod(self, pod: Pod) -> None:
        if pod.meta.is_terminating:
            self.remove_pod(pod)
        else:
            super().update_pod(pod)


class Hoarding(SchedulerCache):
    """Counts who is over as if he were not."""

    def remove_pod(self, pod: Pod) -> None:
        if not pod.is_over and pod.meta.is_terminating:
            super().remove_pod(pod)


class Doubling(SchedulerCache):
    """Counts twice whom it has assumed and then sees."""

    def add_pod(self, pod: Pod) -> None:
        was_assumed = self.is_assumed(pod)
        super().add_pod(pod)
        if was_assumed:
            self._nodes[pod.spec.node_name].add(info_of(pod))


class DeafToDeletions(SchedulingQueue):
    """Does not hear that a pod has gone."""

    def move(self, event: str, now_ms: int, may: May | None = None) -> None:
        if event != POD_DELETED:
            super().move(event, now_ms, may)


class Sleepy(SchedulingQueue):
    """Never looks who has been left alone for long enough."""

    @property
    def backoff_due_ms(self) -> int | None:
        return None


class Losing(SchedulingQueue):
    """Does not take back whom it could not help."""

    def failed(self, attempt: Attempt) -> str:
        return ""


def with_part(name: str, kind: type[Any]) -> Callable[[SchedulingLoop], None]:
    """One of whose books that part is of that kind."""

    def alter(office: SchedulingLoop) -> None:
        getattr(office.books, name).__class__ = kind

    return alter


def in_one_line(office: SchedulingLoop) -> None:
    """Pods are tried as they came."""
    queue = cast(Any, office.books.queue)
    queue._active = Heap(lambda queued: (queued.since_ms, queued.pod.key))


# -- deeds ----------------------------------------------------------------------------------------


class ByName:
    """Binds whoever bears the name."""

    name = "ByName"

    async def bind(self, client: Client, pod: Pod, node: str) -> Any:
        """Without saying who is meant."""
        name, namespace = pod.meta.name, pod.meta.namespace
        body = Binding(Meta(name, namespace), target=Target(node))
        posted = Operation("create", pod.plural, name, namespace, body, subresource="binding")
        return await client.ask(posted)


class Trigger(SchedulingLoop):
    """Deletes whomever it has assumed, as well."""

    async def refused(self, decision: Decision, because: int) -> Failure:
        """With victims of another node beside those that were chosen."""
        found = decision.preemption
        if found is not None and found.chosen is not None and self.books.snapshot is not None:
            chosen = far_ones_too(found, self.books.snapshot)
            found = attrs.evolve(found, chosen=chosen)
        return await super().refused(attrs.evolve(decision, preemption=found), because)


class Sparing(SchedulingLoop):
    """Leaves the less important their nominations: it looks for them elsewhere."""

    async def refused(self, decision: Decision, because: int) -> Failure:
        """As if another node had been chosen."""
        found = decision.preemption
        if found is not None and found.chosen is not None:
            found = attrs.evolve(found, chosen=attrs.evolve(found.chosen, node="elsewhere"))
        return await super().refused(attrs.evolve(decision, preemption=found), because)


class Welcome(InterPodAffinityFilter):
    """Does not ask those who are there whether they mind."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return attrs.evolve(super().prepare(pod, snapshot), unwelcome=Tally({}))


# -- all of them ----------------------------------------------------------------------------------


def with_office(office: type[SchedulingLoop], **settings: Any) -> Callable[..., None]:
    """The bustle, with such an office."""
    return partial(bustle, scheduler=type("Mutated", (Scheduler,), {"office": office}), **settings)


def altered(alter: Callable[[SchedulingLoop], None]) -> Callable[..., None]:
    """The bustle, with an office so altered."""

    def begin(self: SchedulingLoop, *given: Any) -> None:
        SchedulingLoop.__init__(self, *given)
        alter(self)

    return with_office(type("Altered", (SchedulingLoop,), {"__init__": begin}))


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
MUTANTS = (
    Mutant("preempts-equals", "victims may be as important", altered(deciding(more_important)),
           RANKS),
    Mutant("never-preempts", "a pod that must never preempt does", altered(deciding(no_never)),
           RANKS),
    Mutant("no-reprieve", "everybody goes that may", altered(selecting(SparesNobody())), NEED),
    Mutant("wrong-order", "the least important are spared first",
           altered(selecting(SparesTheLeast())), PRICE),
    Mutant("dearest", "room is made where it costs most",
           altered(deciding(after=choosing(dearest))), PRICE),
    Mutant("impatient", "victims are decided on while some are on their way",
           altered(deciding(not_nominated)), PATIENCE),
    Mutant("forgets-nominations", "a nomination is not read from the pod",
           altered(with_part("nominator", ForgetfulOfNominations)), NOMINATIONS),
    Mutant("keeps-nominations", "a pod that is bound stays nominated",
           altered(with_part("nominator", Faithful)), NOMINATIONS),
    Mutant("nominated-not-cleared", "the less important keep their nominations",
           with_office(Sparing), NOMINATIONS),
    Mutant("no-two-pass", "nobody yields to who is nominated",
           altered(deciding(nominations=Nobody())), FITS),
    Mutant("no-symmetry", "those who are there are not asked",
           partial(bustle, filters=(*_without("InterPodAffinity"), Welcome())), FITS),
    Mutant("no-taints", "taints keep nobody away",
           partial(bustle, filters=_without("TaintToleration")), FITS),
    Mutant("never-forgets", "who was assumed and not bound stays assumed",
           altered(with_part("cache", Clinging)), PLACES),
    Mutant("loses-pods", "who was tried in vain is not tried again",
           altered(with_part("queue", Losing)), PLACES),
    Mutant("no-flush", "who is left alone stays so", altered(with_part("queue", Sleepy)), PLACES),
    Mutant("ignores-terminating", "who is to go counts no more",
           altered(with_part("cache", Hasty)), ACCOUNTS),
    Mutant("counts-terminal", "who is over still counts", altered(with_part("cache", Hoarding)),
           ACCOUNTS),
    Mutant("counts-twice", "who was assumed counts twice", altered(with_part("cache", Doubling)),
           ACCOUNTS),
    Mutant("no-budgets", "no budget protects anybody", altered(deciding(budgets=())), BUDGETS),
    Mutant("reaches-far", "a pod of another node goes, too",
           altered(deciding(after=choosing(far_ones_too))), REACH),
    Mutant("fifo", "pods are tried as they came", altered(in_one_line), ORDER),
    Mutant("binds-by-name", "a bind says no uid",
           partial(bustle, plugins=(ByName,)), DEEDS),
    Mutant("trigger-happy", "somebody is deleted on whom nobody has decided",
           with_office(Trigger), DEEDS),
    Mutant("deaf", "that a pod has gone is no news",
           altered(with_part("queue", DeafToDeletions)), NEWS),
)  # fmt: skip
"""Each with what must kill it."""
