"""Rescheduler: makes room for the pods that schedulers found no node for (CTL-51 to CTL-53).

An alternative to preemption by the scheduler, which Kubernetes rejected. It is a program of its
own, with its own informers and its own copy of the scheduling logic. Every now and then:

1. It takes the pods that have been unschedulable for long enough, the most important first. 2. For
one that fits nowhere by what it sees, it finds victims by the scheduler's own rules. 3. It deletes
them. It may also write the nomination, or taint the node; if it does neither, the scheduler may
give the room to any pod.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs

from actors.framework.filter import Filter
from actors.framework.filters import FILTERS
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot
from actors.scheduler.decider import Decider
from actors.scheduler.decisions.decision import Candidate, Decision
from actors.scheduler.decisions.facts import preemption_facts
from actors.scheduler.decisions.sentence import sentence_of
from actors.scheduler.memory.cycle_record import CycleRecord
from actors.scheduler.memory.informers import Informers
from actors.scheduler.policies import filters_of, selector_in
from actors.scheduler.preemption import preempt
from actors.scheduler.rescheduling.guard_taint import FOR_MS_MAX, guard, may_guard
from actors.scheduler.rescheduling.own_sight import OwnSight, since_ms
from actors.scheduler.rescheduling.room_plan import RoomPlan
from actors.scheduler.switches import BESIDE_SCHEDULER, SchedulerSwitches
from actors.scheduler.writes.nomination import nomination_patch
from actors.scheduler.writes.victim_end import end_victim
from actors.shared.looks import Looks
from actors.shared.recorder import Recorder
from testbed import Actor, ApiError, Client, NotFound
from testbed.objects import Map, Pod
from testbed.switches import Component, switch_texts, told
from testbed.turns.because import Because


class ReschedulingLoop:
    """What one life of it does. Made in `run`."""

    def __init__(self, client: Client, filters: tuple[Filter, ...]) -> None:
        self.client = client
        self.switches: SchedulerSwitches = client.switches
        self.informers = Informers(client, is_fenced=False, watches_failed=False)
        self.sight = OwnSight(self.informers, self.switches.nnn_storage)
        self.plans: dict[str, RoomPlan] = {}
        """By uid of the pod. A crash forgets them, as it would any memory."""
        asked = filters_of(self.switches, filters)
        self.cycle_record = CycleRecord()
        """Its latest decision, and what it was made by; for claims."""
        self.nominated: Mapping[str, Sequence[PodInfo]] = {}
        """Which pods were nominated where, by then."""
        self._decider = Decider(self.switches, asked, (), client.pick)
        self._selector = selector_in(self.switches)
        self._recorder = Recorder(client, client.name)
        self._looks = Looks(client, "scan", self.switches.rescheduler_interval_ms)
        client.show("rescheduler", self)

    def digest(self, now_ms: int) -> object:
        """All that its further actions depend on beside its Caches. Times count from now."""
        plans = [attrs.evolve(plan, made_ms=now_ms - plan.made_ms) for plan in self.plans.values()]
        return plans, self._looks.phase_ms(now_ms), self._decider

    async def run(self) -> None:
        """Scan once in each interval; a scan that can find nothing new is left out."""
        informers = self.informers
        informers.budgets.on(
            add=informers.budgets_changed, update=informers.budgets_changed,
            delete=informers.budgets_changed,
        )  # fmt: skip
        await informers.synced()
        for cache in (informers.pods, informers.nodes, informers.budgets, informers.namespaces):
            cache.on(add=self._news, update=self._news, delete=self._news)
        self._looks.at_once()
        while True:
            await self._looks.wait()
            await self.scan()

    def _news(self, *_: object) -> None:
        self._looks.soon()

    async def scan(self) -> None:
        """Make room for each pod that has waited long enough; then guard the nodes."""
        self._forget_plans()
        for pod in self.sight.unschedulable():
            wait_ms = since_ms(pod) + self.switches.rescheduler_min_pending_ms - self.client.now()
            if wait_ms > 0:
                self._looks.soon(self.client.elapsed() + wait_ms)
            else:
                await self.help(pod)
        guarded = {plan.node for plan in self.plans.values() if plan.is_guarded}
        if not await guard(self.client, list(self.informers.nodes.known.values()), guarded):
            self._looks.soon()

    def _forget_plans(self) -> None:
        """Drop the plan of each pod that is bound or gone, and guard no node for too long."""
        now_ms = self.client.elapsed()
        for uid, plan in list(self.plans.items()):
            over_ms = plan.made_ms + FOR_MS_MAX
            pod = self.informers.pod(plan.key)
            if pod is None or pod.meta.uid != uid or pod.is_bound:
                del self.plans[uid]
            elif plan.is_guarded and now_ms >= over_ms:
                self.plans[uid] = attrs.evolve(plan, is_guarded=False)
            elif plan.is_guarded:
                self._looks.soon(over_ms)

    async def help(self, pod: Pod) -> None:
        """Make room for a pod, if it fits nowhere and does not wait for room already."""
        # In the course of a scan the cluster changes: each pod is judged by what is known then.
        known = self.informers.pod(pod.key)
        if known is None or known.is_bound or known.meta.uid != pod.meta.uid:
            return
        decision = self.decide(known, self.sight.snapshot())
        if decision is None or decision.preemption is None:
            return
        chosen = decision.preemption.chosen
        if chosen is not None:
            await self._make_room(decision, chosen)
        elif decision.preemption.is_eligible and decision.preemption.code != "Error":
            self.plans.pop(pod.meta.uid, None)

    def decide(self, pod: Pod, snapshot: Snapshot) -> Decision | None:
        """What the scheduler's own rules say; None if the pod fits somewhere."""
        record, plans = self.cycle_record, self.plans
        nominator = self.sight.nominator(plans)
        record.snapshot, record.budgets = snapshot, self.informers.all_budgets()
        record.decision, self.nominated = None, dict(nominator.nominated)
        found = self._decider.feasibility(pod, snapshot, nominator)
        if found.error or found.rows:
            return None
        preemption = preempt(
            found,
            self.sight.as_planned(pod, plans.get(pod.meta.uid)),
            budgets=record.budgets,
            switches=self.switches,
            pick=self.client.pick,
            now_ms=self.client.now(),
            selector=self._selector,
        )
        return Decision(pod, len(snapshot), refusals=found.refusals, preemption=preemption)

    async def _make_room(self, decision: Decision, chosen: Candidate) -> None:
        pod, preemption = decision.pod, decision.preemption
        assert preemption is not None
        self.cycle_record.decision = decision
        facts = {"pod": pod.key, "uid": pod.meta.uid, "said": sentence_of(decision)}
        because = self.client.record("makes room", facts, preemption=preemption_facts(preemption))
        guards = self.switches.rescheduler_taints and may_guard(pod)
        self.plans[pod.meta.uid] = RoomPlan(
            pod.key, pod.meta.uid, chosen.node, self.client.elapsed(), guards
        )
        try:
            await self._end_victims(pod, chosen, because)
            if self.switches.rescheduler_nominates:
                patch, part = nomination_patch(pod, chosen.node, self.switches.nnn_storage)
                if patch:
                    await self.client.patch(
                        pod, patch, how="strategic", subresource=part, because=because
                    )
        except ApiError as error:
            said = f"broke off making room for {pod.key}: {error}"
            self.client.record("room not made", said=said, pod=pod.key)
            self._looks.soon()

    async def _end_victims(self, pod: Pod, chosen: Candidate, because: Because) -> None:
        left = list(chosen.victims)
        while left:
            victim = self.client.pick("next victim", left)
            left.remove(victim)
            try:
                await end_victim(self.client, victim, self.switches, because)
            except NotFound:
                continue
            self._recorder.note(
                victim, "Preempted", f"Preempted by a pod on node {chosen.node}",
                action="Preempting", related=pod,
            )  # fmt: skip


@attrs.frozen
class Rescheduler(Actor):
    """Makes room for unschedulable pods, if the switch `preemptor` of schedulers says that it does;
    otherwise it ends at once. Its switches are those of schedulers."""

    rank: ClassVar[int] = 5
    component: ClassVar[Component] = BESIDE_SCHEDULER
    loop: ClassVar[type[ReschedulingLoop]] = ReschedulingLoop
    """What one life of it does; a mutant has another."""

    profile: str = ""
    """Its bundle of switches, as of a Scheduler."""
    switches: Map[str] = attrs.field(factory=Map, converter=switch_texts)
    """The switches that differ from the profile: `{"preemptor": "rescheduler"}`."""
    filters: tuple[Filter, ...] = FILTERS
    """The filters that may refuse a node, as of a Scheduler."""

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    async def run(self, client: Client) -> None:
        """Scan until it crashes."""
        if client.switches.preemptor == "rescheduler":
            await self.loop(client, self.filters).run()
