"""Room is made for a pod, which goes to another node instead; a lesser one gets what was made."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always, quiescent
from testbed.objects import Node, Pod, PriorityClass

GRACES_S = {"a": 60, "b": 30}
"""How long the two victims take to end."""
CREATE_MS, E_ENDS_MS = 1_000, 10_000


def d_gets_what_c_does_not_need(see: Evidence) -> str | None:
    """If n1 was emptied for the important pod, and it is on n2, the lesser one does not wait."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    on = {pod.meta.name: pod.spec.node_name for pod in pods}
    if not on.get("c"):
        return "pods/default/c is on no node"
    if on["c"] == "n2" and not on.keys() & GRACES_S.keys() and on.get("d") == "":
        return "pods/default/c is on n2, and pods/default/d waits though n1 is empty"
    return None


def c_has_its_node_to_itself(see: Evidence) -> str | None:
    """C needs a whole node: where it is bound, all others are over."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    c = next((pod for pod in pods if pod.meta.name == "c" and pod.is_bound), None)
    here = [pod for pod in pods if c and pod.spec.node_name == c.spec.node_name]
    others = ", ".join(pod.key for pod in here if pod is not c and not pod.is_over)
    return f"pods/default/c is on {c.spec.node_name} beside {others}" if c and others else None


def place_elsewhere(world: World) -> None:
    """Two pods are preempted for one that another node takes; a lesser pod gets their room.

    A and B (priority 100) are deleted on n1 for C (1000), which is nominated there. Before they
    end, E completes on n2, and C is bound to n2 at once: a nomination is no promise. Then B ends,
    and D (50) is bound to n1. So it looks as if B had been preempted for D, which is less important
    than B.

    Cause: a nominated pod may be bound to any node, and its victims are on their way by then.
    Look for: D has no nomination, and C was bound to n2 while its nomination says n1.
    Source: the design "Pod Preemption in Kubernetes", example 2.
    Tags: nomination, grace-period, priority.
    Kind: lesson.
    """
    world.serve(ApiServer)
    for name, value in (("top", 2000), ("urgent", 1000), ("usual", 100), ("low", 50)):
        world.add(PriorityClass(name, value=value))
    for node in ("n1", "n2"):
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=10_000))
        world.start(Kubelet(f"kubelet-{node}", node))
    for name, grace_s in GRACES_S.items():
        spec: dict[str, Any] = {"priority_class_name": "usual", "grace_s": grace_s}
        world.add(Pod.of(name, cpu_m=5_000, node_name="n1", **spec))
    once: dict[str, Any] = {
        "node_name": "n2",
        "priority_class_name": "top",
        "restart_policy": "Never",
    }
    world.add(Workload(E_ENDS_MS).given_to(Pod.of("e", cpu_m=10_000, **once)))
    c = Pod.of("c", cpu_m=10_000, priority_class_name="urgent")
    d = Pod.of("d", cpu_m=2_000, priority_class_name="low")
    world.start(Scheduler("default-scheduler"), User("ann", ((CREATE_MS, c), (CREATE_MS, d))))
    world.claim(quiescent(d_gets_what_c_does_not_need, reads=()))
    world.claim(always(c_has_its_node_to_itself, reads=("log:pods",)))
