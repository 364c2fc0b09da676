"""cpu: what pods ask for of a node, what is left of it, and what is kept there for others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from testbed import Evidence
from testbed.objects import Node, Pod, requests_of, room_of


def asked_m(pod: Pod) -> int:
    """The cpu that a pod asks for, in thousandths."""
    return requests_of(pod).get("cpu", 0)


def free_m(node: Node, pods: Iterable[Pod]) -> int:
    """The cpu that a node has left beside those of these pods that are bound to it, also beside
    those that terminate."""
    here = (pod for pod in pods if pod.spec.node_name == node.meta.name)
    return room_of(node)["cpu"] - sum(map(asked_m, here))


def kept_m(node: Node, pods: Iterable[Pod], pod: Pod) -> int:
    """The cpu of a node that is kept from that pod, for others that are as important or more."""
    there = (p for p in pods if p.status.nominated_node_name == node.meta.name and not p.is_bound)
    others = (p for p in there if p.meta.name != pod.meta.name)
    return sum(asked_m(other) for other in others if other.priority >= pod.priority)


def no_node_is_overcommitted(see: Evidence) -> str | None:
    """Every node has the cpu that the pods bound to it ask for."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    for entry in see.store.snapshot("nodes/"):
        node: Any = entry.value
        if (left_m := free_m(node, pods)) < 0:
            has_m = room_of(node)["cpu"]
            return f"{node.meta.name} has {has_m}m cpu, and its pods ask for {has_m - left_m}m"
    return None
