"""Whether pods fit one node together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from testbed.objects import Node, Pod, requests_of
from testbed.objects.meta import key_of
from testbed.turns.found import TOO_MANY, Found

CRITICAL = 2_000_000_000


def wrong_with(node: str, pods: Sequence[Pod], room: Mapping[str, int]) -> Found | None:
    """Why these pods do not fit the node together; None if they do."""
    with_ports = [(pod, ports) for pod in pods if (ports := pod.spec.host_ports)]
    for (one, mine), (other, others) in combinations(with_ports, 2):
        for port in mine:
            if any(port.clashes(each) for each in others):
                text = f"{one.key} and {other.key} run on {node} with port {port.host_port}"
                return _found(text, node, one, other)
    if any(pod.priority >= CRITICAL for pod in pods):
        return None
    if len(pods) > room.get("pods", len(pods)):
        text = f"{node} has room for {room['pods']} pods and runs {_names(pods)}"
        return _found(text, node, *pods)
    asked: dict[str, int] = {}
    for pod in pods:
        for name, amount in requests_of(pod).items():
            asked[name] = asked.get(name, 0) + amount
    for name, amount in sorted(asked.items()):
        if amount > room.get(name, amount):
            runs = f"runs {_names(pods)}, which ask for {amount}"
            return _found(f"{node} has {name} {room[name]}, and {runs}", node, *pods)
    return None


def _found(text: str, node: str, *pods: Pod) -> Found:
    return Found.of(text, key_of(Node, node), *pods, fields="spec.node_name", reason=TOO_MANY)


def _names(pods: Sequence[Pod]) -> str:
    return ", ".join(pod.meta.name for pod in pods)
