"""Telling: a trace says in words why a pass got no node for a pod, and for whom it wanted one."""

from __future__ import annotations

from testbed.objects import Pod, PriorityClass
from testbed.objects.quantity import CPU
from testbed.world.world import World
from tests.models.worlds.growing import group, passes, waiting

HIGH, SPARE = PriorityClass("high", value=100), PriorityClass("spare", value=-20)
FULL = Pod.of("full", cpu_m=4000, node_name="g-1")


def told(world: World) -> list[str]:
    """What the autoscaler has recorded, with the second in which it did."""
    records = (each for each in world.table.records if each.path.startswith("autoscaler"))
    return [f"{each.now_ms // 1000}: {each.said}" for each in records]


def test_every_pod_that_waits_is_told_why() -> None:
    """One that is expendable, one whose node is there, one that fits, one that fits nowhere."""
    pods = [
        waiting("a", 100, priority_class_name="spare"),
        waiting("b", 100, node="g-1", priority_class_name="high"),
        waiting("c", 100),
        waiting("d", 9000),
    ]
    spare = Pod.of("old", cpu_m=100, node_name="g-1", priority_class_name="spare")
    _, world = passes(group(target=1), having=[HIGH, SPARE, spare, *pods])
    asked = "10: asked for no node for pods/default"
    assert told(world) == [
        f"{asked}/a: it is expendable, with a priority below -10",
        f"{asked}/b: it is nominated to g-1, to wait for its victims",
        f"{asked}/c: it fits on g-1; pods/default/old there is expendable, and does not count",
        f"{asked}/d: no group helps it; g: Insufficient {CPU}",
    ]


def test_what_a_group_wants_is_told_with_whom_it_is_for() -> None:
    """And after what a new node is imagined."""
    _, world = passes(group(target=1), having=[FULL, waiting("p", 2000), waiting("q", 2000)])
    assert told(world) == [
        "10: wanted 2 nodes in g instead of the 1 that it knew of, for pods/default/p and 1 more; "
        "a new one would be as the provider says"
    ]


def test_what_was_so_in_the_pass_before_is_not_told_again() -> None:
    """The group refuses, so it is left alone; two passes later nothing is new."""
    refusing = group(increase_errors=-1)
    _, world = passes(refusing, having=[waiting("p")], at_s=(10, 20, 30))
    assert told(world) == [
        "10: wanted 1 node in g instead of the 0 that it knew of, for pods/default/p; a new one "
        "would be as the provider says",
        "10: warned: Scale-up failed for group g: quota exceeded",
        "10: gave up a pass: failed to increase node group size: quota exceeded",
        "20: asked for no node for pods/default/p: no group helps it; g: in backoff after failed "
        "scale-up",
    ]


def test_a_nomination_to_a_node_that_is_gone_is_told_with_that() -> None:
    """It is why the pod waits for ever."""
    records, _ = passes(
        group(target=1), having=[FULL, waiting("p", node="n9")], nominated_rule="always"
    )
    assert records[0].reasons == {
        "default/p": "it is nominated to n9, to wait for its victims; there is no such node"
    }
