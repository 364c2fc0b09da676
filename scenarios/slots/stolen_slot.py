"""One scheduler makes room for an urgent pod, and another binds its own pod into it."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.scheduler.invariants import was_given_up
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.objects import Meta, Node, Pod, PriorityClass, requests_of, room_of

GRACE_S = 10
"""How long the victim takes to end."""
URGENT_MS, LATE_MS = 1_000, 10_500
"""When the two pods are created: the late one shortly before the room is free."""


def no_room_is_stolen(see: Evidence) -> str | None:
    """No pod takes the room that was made for a more important one, so that this no longer fits;
    unless its own bind has failed there, since its scheduler clears the nomination then."""
    pods: list[Any] = [e.value for e in see.store.snapshot("pods/") if not e.value.is_over]  # type: ignore[attr-defined]
    waiting = [p for p in pods if p.status.nominated_node_name and not p.is_bound]
    for entry in see.store.snapshot("nodes/") if waiting else ():
        node: Any = entry.value
        name = node.meta.name
        here = [pod for pod in pods if pod.spec.node_name == name]
        free_m = room_of(node)["cpu"] - sum(requests_of(pod).get("cpu", 0) for pod in here)
        for urgent in waiting:
            if urgent.status.nominated_node_name != name:
                continue
            lesser = (pod for pod in here if pod.priority < urgent.priority)
            thief = next((pod for pod in lesser if not pod.meta.is_terminating), None)
            if thief is None or requests_of(urgent).get("cpu", 0) <= free_m:
                continue
            if not was_given_up(see, urgent, name, thief):
                return f"room was made on {name} for {urgent.key}, and {thief.key} has taken it"
    return None


def stolen_slot(world: World, *, guard: bool = False) -> None:
    """A scheduler binds a pod into the room that another one has made by preemption.

    A scheduler knows no nominations but its own. Guarded, one scheduler has both pods.

    Cause: a scheduler goes by the nominations of its own pods alone, so beta sees the room that
      alpha has made as free.
    Look for: beta binds `late` to n1 while alpha's urgent pod is nominated there.
    Source: kubernetes#130429; the design "Pod Preemption in Kubernetes".
    Tags: several-schedulers, nomination, grace-period.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(PriorityClass(Meta("high"), value=100))
    victim = Pod.of("victim", cpu_m=1000, grace_s=GRACE_S, node_name="n1")
    world.add(Node.of("n1", cpu_m=1000), victim)
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="high", scheduler_name="alpha")
    late = Pod.of("late", cpu_m=1000, scheduler_name="alpha" if guard else "beta")
    world.start(User("ann", ((URGENT_MS, urgent),)), User("ben", ((LATE_MS, late),)))
    world.start(Kubelet("kubelet-n1", "n1"), Scheduler("alpha"), Scheduler("beta"))
    world.claim(always(no_room_is_stolen))
