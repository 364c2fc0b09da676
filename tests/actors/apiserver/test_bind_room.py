"""The switch `bind_checks_room`: a bind that looks at the room of the node as well."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.errors import Conflict
from testbed.objects import Node, Pod
from tests.each_row import each_row
from tests.models.counter import Counter


def counter(room: str, **node: Any) -> Counter:
    """A server with a node of one cpu, on which a pod is that asks for 600m."""
    found = Counter(switches={"bind_checks_room": room})
    found.create(Node.of("n1", **{"cpu_m": 1000, **node}))
    found.bind(found.create(Pod.of("there", cpu_m=600)), "n1")
    return found


@pytest.mark.spec("API-20")
def test_a_bind_looks_at_the_pod_alone() -> None:
    """As in Kubernetes: the node may be full, or not even exist."""
    asked = counter("off")
    for name, node in (("p", "n1"), ("q", "n2")):
        assert asked.bind(asked.create(Pod.of(name, cpu_m=600)), node).spec.node_name == node


@pytest.mark.spec("API-20")
@each_row(
    ("cpu_m", "node", "lack"),
    [(400, {}, ""), (401, {}, "cpu"), (0, {"pods": 1}, "pods"), (400, {"pods": 2}, "")],
)
def test_with_the_switch_a_full_node_takes_nobody(
    cpu_m: int, node: dict[str, int], lack: str
) -> None:
    """What the pod asks for, and the number of pods, beside those that are bound there."""
    asked = counter("on", **node)
    pod = asked.create(Pod.of("p", cpu_m=cpu_m))
    if lack:
        with pytest.raises(Conflict, match=f'node "n1" has not enough {lack} for pod p'):
            asked.bind(pod, "n1")
        assert not asked.get(Pod, "p").is_bound
    else:
        assert asked.bind(pod, "n1").is_bound


@pytest.mark.spec("API-20")
def test_a_pod_that_is_over_takes_no_room() -> None:
    """Nor does one on another node; and a node that does not exist is not looked at."""
    asked = counter("on")
    there = asked.get(Pod, "there")
    asked.patch(there, {"status": {"phase": "Failed"}}, subresource="status")
    for name, node in (("p", "n2"), ("q", "n1")):
        assert asked.bind(asked.create(Pod.of(name, cpu_m=1000)), node).is_bound
