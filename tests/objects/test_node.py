"""Nodes: what room they have, and what keeps pods away."""

from __future__ import annotations

import pytest

from testbed.objects import Node, NodeStatus, room_of
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
