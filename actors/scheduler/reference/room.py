"""Room: the filters for host ports and for resources."""

from __future__ import annotations

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from testbed.objects.node import room_of


def node_ports(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """No two pods on a node may use the same host port."""
    taken = [port for each in place.guests for port in each.pod.spec.host_ports]
    if any(mine.clashes(other) for mine in guest.pod.spec.host_ports for other in taken):
        reason = "node(s) didn't have free ports for the requested pod ports"
        return Refusal("NodePorts", (reason,))
    return None


def resources(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """There must be a place for one more pod, and room for all its requests (SCH-58).

    If it requests anything, cpu, memory and ephemeral storage must not be overcommitted either,
    even where it requests none of them.
    """
    room, missing = room_of(place.node), []
    if len(place.guests) + 1 > room.get("pods", 0):
        missing.append("Too many pods")
    asked = {name: amount for name, amount in guest.requests.items() if _is_counted(name)}
    if any(amount or _is_extended(name) for name, amount in asked.items()):
        for name in ("cpu", "memory", "ephemeral-storage", *sorted(filter(_is_extended, asked))):
            used = sum(each.requests.get(name, 0) for each in place.guests)
            if asked.get(name, 0) > room.get(name, 0) - used:
                missing.append(f"Insufficient {name}")
    return Refusal("NodeResourcesFit", tuple(missing)) if missing else None


def _is_counted(resource: str) -> bool:
    return resource in ("cpu", "memory", "ephemeral-storage") or _is_extended(resource)


def _is_extended(resource: str) -> bool:
    """Whether it is an extended resource, like `example.com/gpu`, or counted like one."""
    return "/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))
