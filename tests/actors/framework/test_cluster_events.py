"""Cluster events: which event an update of a node is, and which change of a pod matters."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.framework.cluster_events import (
    NODE_ALLOCATABLE,
    NODE_CONDITIONS,
    NODE_LABELS,
    NODE_TAINTS,
    change_of,
)
from testbed.objects import Node
from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from tests.each_row import each_row

PLAIN = Node.of("n1", cpu_m=1000)
CORDONED = Node.of("n1", cpu_m=1000, unschedulable=True)
LABELLED = Node.of("n1", cpu_m=1000, labels={"zone": "a"})
TAINTED = Node.of("n1", cpu_m=1000, taints=(Taint("x", effect="NoSchedule"),))
LARGER = Node.of("n1", cpu_m=2000, labels={"zone": "a"})


def with_ready(**said: Any) -> Node:
    """A node with a Ready condition like this."""
    condition = Condition("Ready", **said)
    return attrs.evolve(PLAIN, status=attrs.evolve(PLAIN.status, conditions=(condition,)))


@pytest.mark.spec("SCH-21")
@each_row(
    ("old", "new", "event"),
    [
        (CORDONED, LARGER, NODE_TAINTS),
        (PLAIN, CORDONED, None),
        (PLAIN, LARGER, NODE_ALLOCATABLE),
        (PLAIN, LABELLED, NODE_LABELS),
        (PLAIN, TAINTED, NODE_TAINTS),
        (PLAIN, with_ready(status="True"), NODE_CONDITIONS),
        (with_ready(status="True"), with_ready(status="True", heartbeat_ms=9000), None),
        (with_ready(status="True"), with_ready(status="False"), NODE_CONDITIONS),
    ],
)
def test_an_update_of_a_node_is_the_first_thing_that_has_changed(
    old: Node, new: Node, event: str | None
) -> None:
    """The end of a cordon comes first. A heartbeat is no event, nor is a cordon."""
    assert change_of(old, new) == event
