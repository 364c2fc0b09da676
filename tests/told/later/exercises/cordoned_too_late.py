"""Cordoned too late: a drain finds a node empty and is done; a scheduler has not heard of the
cordon, and binds a pod there."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from actors.users.drain import Drain, DrainOptions
from testbed import Evidence, World, quiescent
from testbed.objects import Node, Pod
from tests.told.frame import Told


def a_drained_node_is_empty(see: Evidence) -> str | None:
    """In the end no pod is on the node that was drained."""
    node: Any = see.store.peek("nodes/n1")
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    left = [pod for pod in pods if pod.is_bound]
    drained = any(each.name == "drained" for each in see.records)
    if drained and node.value.spec.unschedulable and left:
        return f"n1 was drained, and has {len(left)} pod"
    return None


def cordoned_too_late(world: World, *, guard: bool = False) -> None:
    """A pod comes while a node is drained; guarded, the drain begins when it is there."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=1000))
    world.start(Kubelet("kubelet-n1", "n1"), Scheduler("default-scheduler"))
    options = DrainOptions(force=True, timeout_ms=30_000)
    world.start(Drain("drain", ("n1",), at_ms=10_000 if guard else 3_000, options=options))
    world.start(User("ann", ((5_000, Pod.of("web", cpu_m=100, grace_s=1)),)))
    world.claim(quiescent(a_drained_node_is_empty))
    world.limit(until_ms=60_000)


TRUE = Told(
    cordoned_too_late,
    race="""
faults:
  - lag: nodes to default-scheduler
    at: 2s
    by: 6s
    for: 6s
""",
    actor="default-scheduler",
    made_so="drain",
    about="pods/default/web",
    did=("bound",),
    words=("unschedulable", "cordon"),
    never=("^ann", "^kubelet", "^drain"),
    said=(
        "default-scheduler bound pods/default/web to n1, believing that n1 was not unschedulable, "
        "as it listed at rv 3; false since drain cordoned it at rv 6."
    ),
)
