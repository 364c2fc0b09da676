"""Whether pods fit one node together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from testbed.objects import Pod, requests_of

CRITICAL = 2_000_000_000


def wrong_with(node: str, pods: Sequence[Pod], room: Mapping[str, int]) -> str:
    """Why these pods do not fit the node together; empty if they do."""
    with_ports = [(pod, ports) for pod in pods if (ports := pod.spec.host_ports)]
    for (one, mine), (other, others) in combinations(with_ports, 2):
        for port in mine:
            if any(port.clashes(each) for each in others):
                return f"{one.key} and {other.key} run on {node} with port {port.host_port}"
    if any(pod.priority >= CRITICAL for pod in pods):
        return ""
    if len(pods) > room.get("pods", len(pods)):
        return f"{node} has room for {room['pods']} pods and runs {_names(pods)}"
    asked: dict[str, int] = {}
    for pod in pods:
        for name, amount in requests_of(pod).items():
            asked[name] = asked.get(name, 0) + amount
    for name, amount in sorted(asked.items()):
        if amount > room.get(name, amount):
            runs = f"runs {_names(pods)}, which ask for {amount}"
            return f"{node} has {name} {room[name]}, and {runs}"
    return ""


def _names(pods: Sequence[Pod]) -> str:
    return ", ".join(pod.meta.name for pod in pods)
