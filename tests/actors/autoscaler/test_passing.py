"""Passing: which pods ask for room, and what a pass does about it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.autoscaler.pass_record import IN_COOLDOWN, NOT_NEEDED, SUCCESSFUL
from testbed import Client
from testbed.objects import Condition, Meta, Node, Pod, PriorityClass
from testbed.objects.pod import PodStatus
from tests.each_row import each_row
from tests.models.worlds.growing import fates, group, passes, target, waiting

NOT_READY = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
HIGH, SPARE = PriorityClass(Meta("high"), value=100), PriorityClass(Meta("spare"), value=-20)


@pytest.mark.spec("CA-1", "CA-18")
def test_a_pass_that_asks_for_nodes_does_not_delete_any() -> None:
    """Three pods need two nodes of which each takes two; the pass ends with that."""
    pods = [waiting(f"p{n}", 2000) for n in range(3)]
    (record,), world = passes(group(), having=pods)
    assert fates(record) == {"p0": "triggered", "p1": "triggered", "p2": "triggered"}
    assert (record.scale_up.result, target(world)) == (SUCCESSFUL, 2)
    assert (record.scale_down.ran, record.scale_down.result) == (False, IN_COOLDOWN)


@pytest.mark.spec("CA-2")
def test_what_no_scheduler_has_refused_is_not_seen() -> None:
    """Neither a pod that was never tried, nor one of which the bind has failed."""
    untried = Pod.of("untried", cpu_m=3000)
    failed = Condition("PodScheduled", "False", "SchedulerError", since_ms=0)
    broken = attrs.evolve(Pod.of("broken", cpu_m=3000), status=PodStatus(conditions=(failed,)))
    (record,), world = passes(group(), having=[untried, broken])
    assert (fates(record), target(world)) == ({}, 0)


@pytest.mark.spec("CA-3", "CA-12")
def test_expendable_pods_are_not_there() -> None:
    """What they use is free, so the next pod fits; their node counts as empty."""
    spare = Pod.of("spare", cpu_m=4000, node_name="g-1", priority_class_name="spare")
    (record,), world = passes(group(target=1), having=[SPARE, spare, waiting("p")])
    assert record.pods["default/p"].node == "g-1"
    assert (fates(record), target(world)) == ({"p": "schedulable"}, 1)


@pytest.mark.spec("CA-11", "CA-33")
def test_a_nominated_pod_takes_its_place_beside_its_victims() -> None:
    """Its node is over-full, no other pod fits there, and it stays: the pod counts as one of it."""
    victim = Pod.of("victim", cpu_m=1000, node_name="g-1")
    chosen = waiting("chosen", 3500, node="g-1", priority_class_name="high")
    (record,), world = passes(
        group(target=1, max_size=1), having=[HIGH, victim, chosen, waiting("other", 1000)]
    )
    assert fates(record) == {"chosen": "nominated", "other": "no_option"}
    assert record.scale_down.unremovable["g-1"].reason == "NotUnderutilized"
    assert target(world) == 1


@pytest.mark.spec("CA-14")
@each_row(
    ("delay", "fate", "result"),
    [("", "left", IN_COOLDOWN), ("8s", "triggered", SUCCESSFUL), ("15s", "young", NOT_NEEDED)],
)
def test_young_pods_wait(delay: str, fate: str, result: str) -> None:
    """A pod of less than two seconds waits for others that may come, and no node is deleted. Its
    annotation can make it wait for longer, and then it holds nothing up."""
    name = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"

    async def create(client: Client) -> None:
        await client.sleep(1000 if delay else 9500, "wait")
        notes = {name: delay} if delay else {}
        made = await client.create(waiting("p").with_meta(annotations=notes))
        conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
        await client.patch(made, {"status": {"conditions": conditions}}, subresource="status")

    (record,), _ = passes(group(), do=create)
    assert (fates(record), record.scale_up.result) == ({"p": fate}, result)
    assert record.scale_down.in_cooldown == (fate == "left")


@pytest.mark.spec("CA-15")
@each_row(("filtered", "fate"), [("off", "triggered"), ("on", "daemon")])
def test_daemon_pods_ask_for_room_in_old_versions(filtered: str, fate: str) -> None:
    """A modern autoscaler passes over them."""
    notes = {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}
    pod = waiting("p").with_meta(annotations=notes)
    (record,), _ = passes(group(), having=[pod], filter_daemonset_pods=filtered)
    assert fates(record) == {"p": fate}


@pytest.mark.spec("CA-8", "CA-21")
def test_nodes_that_are_still_to_come_take_pods() -> None:
    """A pod that asks in one pass finds room in the next, on a copy of the template; another one
    that fits there, too, asks for nothing."""
    late: list[Any] = [waiting("p", 2000)]

    async def create(client: Client) -> None:
        await client.sleep(12_000, "wait")
        made = await client.create(waiting("late", 2000))
        conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
        await client.patch(made, {"status": {"conditions": conditions}}, subresource="status")

    (first, second), world = passes(group(), having=late, at_s=(10, 20), do=create)
    assert (fates(first), first.upcoming) == ({"p": "triggered"}, {})
    assert (fates(second), second.upcoming) == (
        {"p": "schedulable", "late": "schedulable"}, {"g": 1},
    )  # fmt: skip
    assert second.pods["default/late"].node == "upcoming:g:0"
    assert target(world) == 1


@pytest.mark.spec("CA-17", "CA-20")
@each_row(
    ("errors", "nodes_max", "tall", "big"),
    [(0, 0, "awaiting", "no_option"), (-1, 0, "left", "left"), (0, 1, "left", "left")],
)
def test_a_scale_up_that_fails_says_nothing_of_other_pods(
    errors: int, nodes_max: int, tall: str, big: str
) -> None:
    """The cloud refuses, or the cluster has as many nodes as it may have. A pod that another group
    would help and one that none would are told apart only if the chosen group grows; one that was
    cut off by the packing is left either way. The limit of memory skips a group."""
    alike = [waiting(name, 1500, owner="rs", node_selector={"pool": "best"}) for name in "abc"]
    vast = attrs.evolve(group("vast"), template=Node.of("any", cpu_m=99_000, memory=2**43))
    (record,), _ = passes(
        group("best", increase_errors=errors), group("tall", cpu_m=8000), vast,
        group("coming", target=1, max_size=1),
        having=[*alike, waiting("tall", 5000), waiting("big", 9000)], expander="most-pods",
        do=lambda client: client.patch(Node.of("coming-1"), NOT_READY, subresource="status"),
        settings={
            "max_memory": 2**40, "max_nodes_per_scaleup": 1, "max_nodes_total": nodes_max,
        },
    )  # fmt: skip
    assert fates(record) == {
        "a": "triggered", "b": "triggered", "c": "left", "tall": tall, "big": big,
    }  # fmt: skip
    skipped = {"vast": ("max cluster memory limit reached",)}
    assert record.pods["default/big"].skipped.items() >= (skipped if big != "left" else {}).items()


@pytest.mark.spec("CA-16", "CA-17")
def test_a_group_without_a_template_stops_every_scale_up() -> None:
    """Nobody knows what its machines count for, so no limit can be checked."""
    unknown = attrs.evolve(group("unknown"), template=None)
    (record,), world = passes(group(), unknown, having=[waiting("p")])
    assert record.error == "could not compute total resources: No node info for: unknown"
    assert target(world) == 0


@pytest.mark.spec("CA-19")
@each_row(
    ("expander", "best"),
    [("least-waste", "small"), ("most-pods", "large"), ("random", "large"),
     ("most-pods,least-waste", "large"), ("priority", "large")],
)  # fmt: skip
def test_an_expander_chooses_the_group(expander: str, best: str) -> None:
    """The small group fits one pod exactly, the large one fits both and wastes more."""
    pods = [waiting("a", 2000), waiting("b", 3000)]
    groups = group("large", cpu_m=16_000), group("small", cpu_m=2000)
    (record,), _ = passes(*groups, having=pods, expander=expander)
    assert record.scale_up.best == best
