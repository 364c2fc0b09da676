"""Room is made for the most important pod, and kept for it while a smaller one would fit."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always, quiescent
from testbed.objects import Node, Pod, PriorityClass

GRACES_S = {"a": 60, "b": 30}
"""How long the two victims take to end: the room becomes free in two halves."""
CREATE_MS = 1_000


def d_gets_no_room(see: Evidence) -> str | None:
    """The less important pod is never bound: what is free is kept for the other one."""
    d: Any = see.store.peek("pods/default/d")
    if d is not None and d.value.is_bound:
        return f"pods/default/d is on {d.value.spec.node_name}, where room was made for c"
    return None


def c_is_on_n1(see: Evidence) -> str | None:
    """In the end the important pod is bound to the node on which room was made for it."""
    c: Any = see.store.peek("pods/default/c")
    if c is None or c.value.spec.node_name != "n1":
        return "room was made on n1 for pods/default/c, and it is not there"
    return None


def makes_room(world: World) -> None:
    """Two pods are preempted for an important one, and the half that is free first is kept for it.

    A and B (priority 100) fill the node. C (1000) needs all of it, so the scheduler deletes both
    and nominates C to the node. B ends after 30 s and A after 60 s. In between, five cores are
    free, and D (50) needs two; but the scheduler counts C as if it were there, and D waits. C is
    tried in between as well, and deletes nobody, since A is still terminating.

    Cause: a scheduler counts a nominated pod on its node for every pod that is not more important.
    Look for: the two tries between the end of B and that of A.
    Source: the design "Pod Preemption in Kubernetes", example 1.
    Tags: nomination, grace-period, priority.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    for name, value in (("urgent", 1000), ("usual", 100), ("low", 50)):
        world.add(PriorityClass(name, value=value))
    world.add(Node.of("n1", cpu_m=10_000))
    for name, grace_s in GRACES_S.items():
        spec: dict[str, Any] = {"priority_class_name": "usual", "grace_s": grace_s}
        world.add(Pod.of(name, cpu_m=5_000, node_name="n1", **spec))
    c = Pod.of("c", cpu_m=10_000, priority_class_name="urgent")
    d = Pod.of("d", cpu_m=2_000, priority_class_name="low")
    world.start(Kubelet("kubelet-n1", "n1"), Scheduler("default-scheduler"))
    world.start(User("ann", ((CREATE_MS, c), (CREATE_MS, d))))
    world.claim(always(d_gets_no_room, reads=("log:pods.spec",)))
    world.claim(quiescent(c_is_on_n1, reads=()))
