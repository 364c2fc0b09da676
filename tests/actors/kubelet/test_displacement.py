"""Kubelets that preempt: which pods end for a more important one, and when that starts."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.kubelet.admission import Admission, Displacement, admission_of
from actors.kubelet.invariants import NodesAreNotOverbooked, kubelet_claims
from actors.kubelet.proving_grounds.crowded_node import crowded_node
from actors.scheduler import Scheduler
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import (
    Affinity,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
)
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.world.world import World
from tests.shared.nodes import at, bound, breaches, calm, failing, node_world, story
from tests.shared.stage import Puppet

HIGH = PriorityClass(Meta("high"), value=100)
FOR_ANY = Map(preempts="for_any")


def ranked(name: str, cpu_m: int, priority: int, start_ms: int | None = 0, **spec: Any) -> Pod:
    """A pod of that priority on the node."""
    pod = bound(name, cpu_m, priority=priority, **spec)
    started = attrs.evolve(pod.status, start_ms=start_ms)
    return attrs.evolve(pod, status=started).with_meta(uid=name)


def decided(pod: Pod, *others: Pod, ending: str = "", tiebreak: str = "start_time") -> Admission:
    """What a node of one cpu decides that makes room for any pod."""
    habits = Displacement(tiebreak, lambda each: each.meta.name in ending.split(), 9000)
    return admission_of(pod, Node.of("n1", cpu_m=1000, memory=1000), others, (), habits)


def names(admission: Admission) -> list[str]:
    """The pods that have to stop first; of a pod that is rejected, the reason."""
    if admission.refusal is not None:
        return [admission.refusal.reason]
    return [pod.meta.name for pod in admission.displaced]


@pytest.mark.spec("CTL-54", "SCH-85")
def test_the_least_important_go_and_no_more_than_needed() -> None:
    """Spared from the top; ended from the bottom. Equals and betters stay."""
    low, mid, top = ranked("low", 300, 1), ranked("mid", 300, 5), ranked("top", 300, 50)
    assert names(decided(ranked("new", 100, 10), low, mid, top)) == []
    assert names(decided(ranked("new", 400, 10), low, mid, top)) == ["low"]
    assert names(decided(ranked("new", 700, 10), low, mid, top)) == ["low", "mid"]
    assert names(decided(ranked("new", 800, 10), low, mid, top)) == ["OutOfcpu"]
    assert names(decided(ranked("new", 400, 1), low, mid, top)) == ["OutOfcpu"]
    never = ranked("new", 400, 10, preemption_policy="Never")
    assert names(decided(never, low, mid, top)) == ["OutOfcpu"]


@pytest.mark.spec("CTL-54", "SCH-82")
def test_of_equals_the_tiebreak_decides() -> None:
    """The one that began later, or the one of the lower class."""
    old, young = ranked("old", 500, 0, 1000), ranked("young", 500, 0, 2000)
    unknown = ranked("unknown", 500, 0, None)
    new = ranked("new", 500, 10)
    assert names(decided(new, old, young)) == ["young"]
    assert names(decided(new, young, unknown)) == ["unknown"]
    best = Pod.of("best", node_name="n1", priority=0).with_meta(uid="best")
    full = ranked("full", 1000, 0)
    assert names(decided(new, full, best, tiebreak="qos")) == ["full"], "best effort holds nothing"


@pytest.mark.spec("CTL-54")
def test_a_pod_that_is_ending_is_waited_for_and_no_other_is_ended_for_its_room() -> None:
    """Its room counts for the newcomer, which starts only after it."""
    low, mid = ranked("low", 500, 1), ranked("mid", 500, 5)
    assert names(decided(ranked("new", 500, 10), low, mid, ending="mid")) == ["mid"]
    assert names(decided(ranked("new", 900, 10), low, mid, ending="mid")) == ["mid", "low"]
    peer = ranked("peer", 500, 10)
    assert names(decided(ranked("new", 600, 10), peer, ending="peer")) == ["OutOfcpu"]


def come(pod: Pod) -> Any:
    """What a user does to create a pod."""

    async def do(client: Client) -> None:
        await client.create(pod)

    return do


@pytest.mark.spec("CTL-54", "CTL-55", "INV-7")
def test_a_node_never_runs_more_than_it_has_whatever_fails() -> None:
    """The kubelet forgets in a crash who waits for whose room, and finds out again."""

    assert breaches(failing(crowded_node), 60, 1) == []


@pytest.mark.long
@pytest.mark.spec("CTL-54", "INV-7")
def test_a_node_never_runs_more_than_it_has_in_four_thousand_runs() -> None:
    """The same, for longer."""
    assert breaches(failing(crowded_node), 4000, 2) == []


@pytest.mark.spec("CTL-54")
def test_on_a_crowded_node_the_most_important_run() -> None:
    """Those that were displaced before they started have failed; in the end there is room again."""
    world = World("crowded")
    crowded_node(world)
    verdict = world.run(Calm(), driver="direct")
    assert verdict.is_held or verdict.outcome == "undecided", str(verdict)
    ends = {name: story(world, name)[-1].partition(" ")[2] for name in ("high", "higher", "late")}
    assert ends == {
        "high": "Failed Preempting", "higher": "Failed Preempting", "late": "Running Ready",
    }  # fmt: skip


def overbooked(preempts: str) -> World:
    """A full node, and a scheduler that has a pod for it."""
    new = Pod.of("new", cpu_m=600, scheduler_name="alpha", priority_class_name="high")
    old = Workload(is_deaf=True).given_to(bound("old", 800, grace_s=3))
    world = node_world(
        HIGH, old, user=at((1000, come(new))), is_judged=False, switches=Map(preempts=preempts)
    )
    world.start(Scheduler("alpha", switches=Map(preemptor="kubelet")))
    world.claim(NodesAreNotOverbooked())
    return world


@pytest.mark.spec("CTL-55", "INV-7")
def test_a_kubelet_that_makes_room_may_be_overbooked_meanwhile() -> None:
    """It is noted with the word `kubelet_preemptor`; and only if that kubelet does make room."""
    world = overbooked("for_any")
    verdict = calm(world)
    assert story(world, "new")[-1] == "4000 Running Ready"
    assert "kubelet_preemptor: n1 has cpu 1000, and runs new, old" in verdict.note
    assert world.judge.allowed == ["kubelet_preemptor"]
    refused = overbooked("for_critical").run(Calm(), driver="direct")
    assert [each.invariant for each in refused.violations] == ["nodes_are_not_overbooked"]


@pytest.mark.spec("CTL-54")
def test_of_budgets_and_affinity_a_kubelet_knows_nothing() -> None:
    """It ends a pod that no budget would spare, and leaves one be that must be apart."""
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector({"app": "web"}))
    apart = Affinity(
        pod_anti_affinity=PodAffinity((PodAffinityTerm("host", LabelSelector({"app": "noisy"})),))
    )
    noisy = bound("noisy", 100, priority_class_name="some").with_meta(labels=Map(app="noisy"))
    web = bound("web", 800, grace_s=1).with_meta(labels=Map(app="web"))
    world = World("node")
    world.serve(ApiServer)
    world.add(HIGH, PriorityClass(Meta("some"), value=5))
    world.add(Node.of("n1", cpu_m=1000, labels={"host": "n1"}), noisy, web)
    world.add(PodDisruptionBudget(Meta("web", "default"), spec=spec))
    new = Pod.of("new", cpu_m=500, scheduler_name="alpha", priority_class_name="high")
    shy = attrs.evolve(new, spec=attrs.evolve(new.spec, affinity=apart))
    world.start(Puppet("user", at((1000, come(shy)))))
    world.serve(partial(Runtime, node="n1"))
    world.start(Kubelet("kubelet-n1", "n1", switches=FOR_ANY))
    world.start(Scheduler("alpha", switches=Map(preemptor="kubelet")))
    world.claim(*kubelet_claims())
    verdict = world.run(Calm(), driver="direct")
    assert verdict.is_held, str(verdict)
    assert story(world, "web")[-1] == "2000 Failed Preempting"
    assert story(world, "noisy")[-1].endswith("Running Ready")
    assert story(world, "new")[-1] == "2000 Running Ready"
