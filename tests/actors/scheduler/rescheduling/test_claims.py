"""What is claimed of a Rescheduler: each claim finds a Rescheduler with a bug."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.framework.snapshot import Snapshot
from actors.scheduler import Rescheduler, Scheduler
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.invariants import rescheduler_claims
from actors.scheduler.rescheduling.rescheduler import ReschedulingLoop
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.objects import LabelSelector, Map, Meta, Node, Pod, PodDisruptionBudget, PriorityClass
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.world.scenario import find
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import PRIORITIES, pending, there
from tests.shared.stage import Puppet


class PutsUpWithEquals(ReschedulingLoop):
    """Takes each pod for more important than it is."""

    def decide(self, pod: Pod, snapshot: Snapshot) -> Decision | None:
        higher = attrs.evolve(pod, spec=attrs.evolve(pod.spec, priority=pod.priority + 1))
        decision = super().decide(higher, snapshot)
        return None if decision is None else attrs.evolve(decision, pod=pod)


class OneMore(ReschedulingLoop):
    """Ends one pod more than is needed; `where` says of which node."""

    where: ClassVar[bool] = True

    def decide(self, pod: Pod, snapshot: Snapshot) -> Decision | None:
        decision = super().decide(pod, snapshot)
        if decision is None or decision.preemption is None or decision.preemption.chosen is None:
            return decision
        chosen = decision.preemption.chosen
        spared = [
            info.pod
            for node in snapshot.infos
            for info in node.pods
            if (node.name == chosen.node) is self.where and info.pod not in chosen.victims
        ]
        chosen = attrs.evolve(chosen, victims=(*chosen.victims, *spared[:1]))
        return attrs.evolve(decision, preemption=attrs.evolve(decision.preemption, chosen=chosen))


class OneElsewhere(OneMore):
    """Ends a pod of another node."""

    where = False


class SeesNoBudgets(ReschedulingLoop):
    """Has never heard of budgets, and says nothing of those it breaks."""

    def decide(self, pod: Pod, snapshot: Snapshot) -> Decision | None:
        informers: Any = self.informers
        known = informers.all_budgets
        informers.all_budgets = tuple
        decision = super().decide(pod, snapshot)
        informers.all_budgets = known
        self.cycle_record.budgets = known()
        return decision


class Dearest(ReschedulingLoop):
    """Makes room where it costs most."""

    def decide(self, pod: Pod, snapshot: Snapshot) -> Decision | None:
        decision = super().decide(pod, snapshot)
        if decision is None or decision.preemption is None or decision.preemption.chosen is None:
            return decision
        dearest = max(decision.preemption.candidates.values(), key=lambda each: each.keys)
        return attrs.evolve(decision, preemption=attrs.evolve(decision.preemption, chosen=dearest))


def full(loop: type[ReschedulingLoop]) -> World:
    """Two full nodes, and a pod that could have either; one has a protected pod."""
    world = World("full")
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    world.add(Node.of("n1", cpu_m=10_000), Node.of("n2", cpu_m=10_000))
    guarded = there("guarded", 5, 0).with_meta(labels=Map(app="a"))
    world.add(guarded, there("mid", 5, 50), there("a", 5, 100, "n2"), there("b", 5, 100, "n2"))
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector({"app": "a"}))
    status = PodDisruptionBudgetStatus(0, 1, 1, 1)
    world.add(PodDisruptionBudget(Meta("a", "default"), spec=spec, status=status))

    async def user(client: Client) -> None:
        await client.create(pending("new", 5, 1000))
        await client.create(pending("peer", 5, 50))

    kind: Any = type("Buggy", (Rescheduler,), {"loop": loop})
    given = {"preemptor": "rescheduler"}
    world.start(Puppet("user", user), Scheduler("alpha", switches=given))
    world.start(kind("rescheduler", switches=given))
    world.claim(*rescheduler_claims())
    return world


@pytest.mark.spec("CTL-51", "INV-10", "INV-11", "INV-12", "INV-18", "INV-19")
@each_row(("loop", "claim"), [
    (PutsUpWithEquals, "victims_are_less_important"),
    (OneMore, "no_preemption_is_pointless"),
    (OneElsewhere, "only_its_own_node_is_cleared"),
    (Dearest, "room_is_made_where_it_costs_least"),
    (SeesNoBudgets, "budgets_are_counted"),
])  # fmt: skip
def test_each_claim_finds_a_bug(loop: type[ReschedulingLoop], claim: str) -> None:
    """And each of them has one."""
    world = full(loop)
    world.goes_on = True
    verdict = world.run(Calm(), driver="direct")
    assert claim in {each.invariant for each in verdict.violations}, str(verdict)


@pytest.mark.spec("CTL-51", "INV-10", "INV-11", "INV-12", "INV-18", "INV-19")
def test_they_hold_of_the_rescheduler() -> None:
    """In that World, and in a crowded one."""
    assert full(ReschedulingLoop).run(Calm(), driver="direct").is_held
    world = find("who_preempts").world(
        {"preemptor": "rescheduler", "guard": "on", "nodes": 2, "urgent": 3}
    )
    world.claim(*rescheduler_claims())
    verdict = world.run(Uniform(1), driver="direct")
    assert verdict.is_held, str(verdict)
    assert [each for each in world.table.records if each.name == "makes room"]
