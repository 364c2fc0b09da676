"""Room is made for a pod, and one that is more important comes before it is free, and takes it."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Node, Pod, PriorityClass

GRACES_S = {"a": 60, "b": 30}
"""How long the two victims take to end."""
C_MS, F_MS = 1_000, 11_000


def f_is_on_n1_and_c_has_nothing(see: Evidence) -> str | None:
    """In the end the most important pod is bound, and the other is neither bound nor nominated; it
    may have been preempted for the first, if it was bound by then."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    on = {pod.meta.name: pod.spec.node_name or pod.status.nominated_node_name for pod in pods}
    if on.get("f") != "n1":
        return "pods/default/f, the most important pod, is not on n1"
    return f"pods/default/c still has {on['c']}" if on.get("c") else None


def outranked(world: World) -> None:
    """Room is made for a pod, and lawfully goes to one that is still more important.

    A and B (priority 100) are deleted for C (1000), which is nominated to their node. Before they
    have ended, F (2000) is created. The scheduler deletes both once more, which gives them no more
    time, nominates F, and clears the nomination of C, so that C may make room elsewhere. There is
    no other node here, and so C waits.

    Cause: a nomination keeps less important pods away, and no others.
    Look for: F is nominated and the nomination of C cleared in one and the same instant.
    Source: the design "Pod Preemption in Kubernetes", example 4.
    Tags: nomination, grace-period, priority.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    for name, value in (("top", 2000), ("urgent", 1000), ("usual", 100)):
        world.add(PriorityClass(name, value=value))
    world.add(Node.of("n1", cpu_m=10_000))
    for name, grace_s in GRACES_S.items():
        spec: dict[str, Any] = {"priority_class_name": "usual", "grace_s": grace_s}
        world.add(Pod.of(name, cpu_m=5_000, node_name="n1", **spec))
    c = Pod.of("c", cpu_m=10_000, priority_class_name="urgent")
    f = Pod.of("f", cpu_m=10_000, priority_class_name="top")
    world.start(Kubelet("kubelet-n1", "n1"), Scheduler("default-scheduler"))
    world.start(User("ann", ((C_MS, c), (F_MS, f))))
    world.claim(quiescent(f_is_on_n1_and_c_has_nothing, reads=()))
