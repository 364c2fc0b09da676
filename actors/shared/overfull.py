"""overfull: whether a node has less cpu than its pods ask for."""

from __future__ import annotations

from typing import Any

from testbed import Evidence
from testbed.objects import requests_of, room_of


def overfull(see: Evidence, name: str) -> str | None:
    """What is wrong if the pods that are bound to the node of that name and not over ask for more
    cpu than it has."""
    node: Any = see.store.peek(f"nodes/{name}")
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    here = [pod for pod in pods if pod.spec.node_name == name and not pod.is_over]
    asked_m, has_m = sum(requests_of(pod)["cpu"] for pod in here), room_of(node.value)["cpu"]
    if asked_m > has_m:
        names = " and ".join(pod.key for pod in here)
        return f"{name} has {has_m}m cpu, and {names} ask for {asked_m}m"
    return None
