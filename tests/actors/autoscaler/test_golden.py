"""GT-A1: preemption and the autoscaler answer one pod, and the pod it displaces."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Machine
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Calm, World
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
)
from tests.each_row import each_row

BEGIN_S = 100
"""When P is created; by then V has long been running. Passes are 10 s apart."""
LABELS = Map(app="v")


def gt_a1(priority: int, **switches: Any) -> World:
    """Node g-1 runs V, of a ReplicaSet, with a grace of 60 s; P of priority 100 comes. The group
    may have one node more, which takes 60 s."""
    world = World("GT-A1")
    world.serve(ApiServer)
    boot = Boot(register_ms=60_000)
    template = Node.of("any", cpu_m=10_000)
    group = NodeGroup("g", min_size=1, max_size=2, target=1, template=template, boots=(boot,))
    join_cloud(world, group, machine=Machine)
    world.add(PriorityClass(Meta("high"), value=100), PriorityClass(Meta("v"), value=priority))
    spec = Pod.of("", cpu_m=10_000, grace_s=60, priority_class_name="v").spec
    template_of_v = PodTemplate(Meta(labels=LABELS), spec)
    sets = ReplicaSetSpec(1, selector=LabelSelector(LABELS), template=template_of_v)
    world.add(ReplicaSet("v", spec=sets))
    world.start(Scheduler("default-scheduler"), ReplicaSetController("replicasets"))
    world.start(Autoscaler(switches=switches))
    p = Pod.of("p", cpu_m=10_000, priority_class_name="high")
    world.start(User("user", ((1000 * BEGIN_S, p),)))
    verdict = world.run(Calm())
    assert verdict.is_held, verdict
    return world


def events(world: World, reason: str) -> list[tuple[float, str]]:
    """When an Event of that reason was about which pod: P, or the one V (or V') that it concerns;
    in seconds since P came."""
    found: list[Any] = [entry.value for entry in world.store.snapshot("events/")]
    return [
        (each.event_ms / 1000 - BEGIN_S, each.involved.name.split("-")[0])
        for each in sorted(found, key=lambda each: each.event_ms)
        if each.reason == reason and each.event_ms >= 1000 * BEGIN_S
    ]


@pytest.mark.spec("CA-9", "CA-10", "CA-34", "CA-36")
@each_row(
    ("priority", "cutoff", "grows"),
    [(0, 0, True), (0, -10, True), (-1, 0, False), (-1, -10, True), (-20, 0, False),
     (-20, -10, False)],
)  # fmt: skip
def test_the_displaced_pod_asks_for_a_node_unless_it_is_expendable(
    priority: int, cutoff: int, grows: bool
) -> None:
    """P, which is nominated, never triggers; V', which replaces its victim, does in the first pass,
    at 10 s, if its priority is not below the cutoff. P is bound
    when V is gone, at 60 s; V' when the new node is Ready, at 70 s."""
    world = gt_a1(priority, expendable_cutoff=cutoff)
    assert events(world, "TriggeredScaleUp") == ([(10, "v")] if grows else [])
    bound = events(world, "Scheduled")
    assert bound == ([(60, "p"), (70, "v")] if grows else [(60, "p")])
    group: Any = world.store.peek("nodegroups/g").value  # type: ignore[union-attr]
    assert group.target == (2 if grows else 1)


@pytest.mark.spec("CA-10")
def test_a_pod_of_which_the_nomination_does_not_count_asks_for_a_node_too_many() -> None:
    """With `nominated_rule=never` P triggers as well: one node more than is needed."""
    world = gt_a1(0, nominated_rule="never")
    assert (10, "p") in events(world, "TriggeredScaleUp")
