"""Requests: what becomes of what the cloud was asked for, and what a pass mends."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.autoscaler.pass_record import SUCCESSFUL, PassRecord
from actors.cloud import Boot
from testbed import Client, Operation, World
from testbed.objects import Condition, Node, Pod
from testbed.objects.node import NodeStatus
from tests.models.worlds.growing import fates, group, passes, target, waiting

SHORT = {"max_node_provision_time_ms": 60_000, "initial_backoff_ms": 50_000}
QUICK = Boot(register_ms=20_000)
BROKEN = Boot(register_ms=None, error_ms=5_000, error_code="QUOTA", error_message="no quota")


def results(records: list[PassRecord]) -> str:
    """The result of the scale-up of each pass: its first letter."""
    return "".join(each.scale_up.result[0] if not each.ended_early else "-" for each in records)


def said(world: World, reason: str) -> list[tuple[int, str]]:
    """The Events of that reason: when, in seconds, and what."""
    found: list[Any] = [entry.value for entry in world.store.snapshot("events/")]
    return [(each.event_ms // 1000, each.message) for each in found if each.reason == reason]


@pytest.mark.spec("CA-5", "CA-23")
def test_a_machine_that_never_registers_is_given_up() -> None:
    """After its time the request has failed, and the group is left alone. The machine goes one pass
    later, since it was first seen in the pass after the request."""
    at_s = tuple(range(10, 110, 10))
    records, world = passes(
        group(max_size=1), having=[waiting("p")], at_s=at_s, settings=SHORT,
        do=lambda client: client.sleep(1, "nothing"),
    )  # fmt: skip
    assert results(records)[0] == "S"
    (timed_out,) = said(world, "ScaleUpTimedOut")
    (removed,) = said(world, "DeleteUnregistered")
    assert timed_out == (80, "Nodes added to group g failed to register within 1m10s")
    assert removed == (90, "Removed unregistered node g-1")
    assert records[-1].pods["default/p"].skipped == {"g": ("in backoff after failed scale-up",)}


@pytest.mark.spec("CA-23")
def test_a_refused_group_is_asked_again_when_its_backoff_is_over() -> None:
    """Fifty seconds after the first failure, and a hundred after the next; a success forgets it."""
    refusing = group(increase_errors=2, boots=(QUICK,))
    at_s = tuple(range(10, 200, 10))
    records, world = passes(refusing, having=[waiting("p")], at_s=at_s, settings=SHORT)
    asked = [
        each.at_ms // 1000 for each in records if each.scale_up.result in ("Error", SUCCESSFUL)
    ]
    # At 60 s the first backoff has just ended, so the next is twice as long.
    assert asked == [10, 60, 160]
    assert (
        said(world, "FailedToScaleUpGroup")[0][1] == "Scale-up failed for group g: quota exceeded"
    )
    assert target(world) == 1


@pytest.mark.spec("CA-7", "CA-23")
def test_instances_that_cannot_be_created_are_deleted_and_end_the_pass() -> None:
    """The group is backed off, and its target falls to what it was."""
    records, world = passes(
        group(boots=(BROKEN,)), having=[waiting("p")], at_s=(10, 20, 30), settings=SHORT
    )
    assert [each.ended_early for each in records] == [False, True, False]
    (failed,) = said(world, "ScaleUpFailed")
    assert failed == (
        20, "Failed adding 1 nodes to group g due to OutOfResource.QUOTA; source errors: no quota",
    )  # fmt: skip
    assert target(world) == 0
    assert records[-1].pods["default/p"].skipped == {"g": ("in backoff after failed scale-up",)}


@pytest.mark.spec("CA-6")
def test_a_target_that_stays_unmet_is_lowered() -> None:
    """Whatever the minimum of the group is; a pass that does so ends."""

    async def vanish(client: Client) -> None:
        body: Any = ("g-2",)
        reclaim = Operation("reclaim", "nodegroups", "g", body=body, endpoint="cloud")
        await client.sleep(5_000, "wait")
        await client.ask(reclaim)

    records, world = passes(
        group(target=2, min_size=2), at_s=tuple(range(10, 110, 10)), settings=SHORT, do=vanish
    )
    assert [each.at_ms // 1000 for each in records if each.ended_early] == [80]
    assert target(world) == 1


@pytest.mark.spec("CA-22")
def test_a_node_that_is_not_ready_starts_for_a_quarter_of_an_hour() -> None:
    """So long it counts as one that is to come, and takes pods; then as one that is unready."""
    never = attrs.evolve(group(boots=(Boot(20_000, stays_unready=True),)), max_size=1)
    records, _ = passes(never, having=[waiting("p")], at_s=(10, 20, 40, 900, 940))
    assert [each.upcoming for each in records] == [{}, {"g": 1}, {"g": 1}, {"g": 1}, {}]
    health = [each.status["g"]["Health"] for each in records]
    assert "unready=0 (resourceUnready=0) notStarted=1" in health[3]
    assert "unready=1 (resourceUnready=0) notStarted=0" in health[4]
    assert fates(records[-1]) == {"p": "no_option"}


@pytest.mark.spec("CA-4")
def test_an_unhealthy_cluster_is_left_alone() -> None:
    """Four of eight nodes are unready: that is more than three, and more than 45 in a hundred."""
    ready, unready = (Condition("Ready", status, since_ms=0) for status in ("True", "False"))
    nodes = [
        attrs.evolve(
            Node.of(f"n{number}", cpu_m=4000),
            status=attrs.evolve(
                Node.of("n", cpu_m=4000).status, conditions=(unready if number < 4 else ready,)
            ),
        ).with_meta(created_ms=0)
        for number in range(8)
    ]
    (record,), world = passes(group(), having=[*nodes, waiting("p")], at_s=(910,))
    assert (record.ended_early, fates(record), target(world)) == (True, {}, 0)
    assert said(world, "ClusterUnhealthy") == [(910, "Cluster is unhealthy")]
    (record,), _ = passes(group(), having=[*nodes[1:], waiting("p")], at_s=(910,))
    assert fates(record) == {"p": "schedulable"}


@pytest.mark.spec("CA-20")
def test_the_number_of_all_nodes_is_limited() -> None:
    """Nodes that are ready and those to come count; if none is left, the pass ends in an error."""
    pods = [waiting(f"p{number}", 4000) for number in range(4)]
    node = Node.of("n1", cpu_m=100)
    ready = NodeStatus(conditions=(Condition("Ready", "True", since_ms=0),))
    records, world = passes(
        group(), having=[attrs.evolve(node, status=ready), *pods], at_s=(10, 20),
        settings={"max_nodes_total": 3},
    )  # fmt: skip
    assert (records[0].scale_up.result, target(world)) == (SUCCESSFUL, 2)
    assert records[1].error == "max node total count already reached"
    assert said(world, "MaxNodesTotalReached")[0][1] == "Max total nodes in cluster reached: 3"


@pytest.mark.spec("CA-20")
def test_groups_that_are_alike_share_new_nodes() -> None:
    """The smaller one gets more; a group of other machines gets none."""
    one, other = group("one", target=1), group("other")
    other = attrs.evolve(other, template=one.template)
    pods = [waiting(f"p{number}", 4000, owner="web") for number in range(3)]
    full = Pod.of("full", cpu_m=4000, node_name="one-1")
    large = group("large", cpu_m=4500)
    (record,), world = passes(
        one, other, large, having=[full, *pods],
        settings={"balance_similar_node_groups": True}, expander="least-waste",
    )  # fmt: skip
    assert [str(each) for each in record.scale_up.resizes] == [
        "{other 0->2 (max: 10)}", "{one 1->2 (max: 10)}",
    ]  # fmt: skip
    assert target(world, "large") == 0
