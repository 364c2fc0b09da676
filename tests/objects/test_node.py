"""Nodes: what room they have, and what keeps pods away."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.objects import Map, Node, NodeStatus, Taint, room_of
from testbed.objects.form import from_tree, to_tree
from testbed.objects.quantity import amounts


@pytest.mark.spec("GEN-11")
def test_its_room_is_what_it_has_for_pods() -> None:
    """Of what it has in all that which is there to be allocated, in whole numbers."""
    status = NodeStatus(
        capacity=amounts({"cpu": 4, "memory": "8Gi"}),
        allocatable=amounts({"cpu": "3500m", "memory": "7Gi", "pods": 110, "x/gpu": 2}),
    )
    room = {"cpu": 3500, "memory": 7 * 2**30, "pods": 110, "x/gpu": 2}
    assert room_of(Node("n1", status=status)) == room
    assert room_of(Node("n1")) == {}


def test_a_node_is_made_of_a_few_words() -> None:
    """All it has is there for pods; it belongs to no namespace."""
    node = Node.of("n1", cpu_m=1500, memory=2**30, pods=3, labels={"zone": "a"}, unschedulable=True)
    assert (node.key, node.meta.namespace, node.meta.labels) == ("nodes/n1", "", Map(zone="a"))
    assert room_of(node) == {"cpu": 1500, "memory": 2**30, "pods": 3}
    assert node.status.capacity == node.status.allocatable
    assert node.spec.unschedulable
    assert room_of(Node.of("n1"))["pods"] == 110
    with pytest.raises(TypeError, match="taint"):
        Node.of("n1", taint=())


@pytest.mark.spec("API-59")
def test_a_node_is_written_as_kubernetes_writes_it() -> None:
    """Each field of its least, and what is beyond."""
    tree: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"zone": "a"}},
        "spec": {
            "podCIDR": "10.0.0.0/24",
            "unschedulable": True,
            "taints": [
                {"key": "k", "effect": "NoExecute", "timeAdded": "2025-01-01T00:00:01Z"},
                {"key": "k", "value": "v", "effect": "NoSchedule"},
            ],
        },
        "status": {
            "capacity": {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "1Ti", "pods": "110"},
            "allocatable": {"cpu": "3500m"},
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "KubeletReady",
                    "lastHeartbeatTime": "2025-01-01T00:00:10Z",
                    "lastTransitionTime": "2025-01-01T00:00:01Z",
                }
            ],
            "nodeInfo": {"kubeletVersion": "v1.26.15"},
        },
    }
    node = from_tree(Node, tree)
    assert to_tree(node) == tree
    assert node.spec.taints[1] == Taint("k", "v", "NoSchedule")
    assert node.status.conditions[0].heartbeat_ms == 10_000
