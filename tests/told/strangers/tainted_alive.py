"""Tainted alive: a node is cut off, the node controller taints it, and the taint controller deletes
its pod, as it always does; the pod has run all the while."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction
from actors.kubelet import Kubelet, Runtime
from testbed import Evidence, World, always
from testbed.faults.partition import Partition
from testbed.objects import Map, Node, Pod
from tests.told.frame import Told


def what_runs_is_left_alone(see: Evidence) -> str | None:
    """Nobody deletes a pod of a node on which nothing has failed."""
    for change in see.changes:
        pod: Any = change.after or change.before
        if isinstance(pod, Pod) and (change.after is None or pod.meta.is_terminating):
            return f"{pod.key} was deleted, and it runs"
    return None


def tainted_alive(world: World) -> None:
    """A kubelet cannot send its heartbeats for some minutes."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.add(Pod.of("web", cpu_m=100, node_name="n1", grace_s=5))
    quiet = Map(events="off")
    world.start(Kubelet("kubelet-n1", "n1", switches=Map(heartbeat="every")))
    world.start(NodeLifecycle(switches=quiet), TaintEviction(switches=quiet))
    world.claim(always(what_runs_is_left_alone))
    world.allow(Partition("kubelet-n1", for_ms=400_000))
    world.limit(until_ms=390_000)


TRUE = Told(
    tainted_alive,
    race="""
faults:
  - partition: kubelet-n1
    at: 5s
    for: 400s
""",
    actor=("node-lifecycle", "kubelet-n1"),
    about=("pods/default/web", "nodes/n1"),
    words=("heartbeat", "cut off", "partition", "not heard", "taint", "unreachable", "renew"),
    never=("^taint-eviction",),
    said=(
        "kubelet-n1 was cut off at 5 s, so node-lifecycle heard no heartbeat and tainted "
        "nodes/n1 unreachable; by that taint pods/default/web was deleted, which ran."
    ),
)

ALSO = (
    TRUE.also(
        "stalled",
        """
faults:
  - stall: kubelet-n1
    at: 5s
    by: 400s
""",
        "kubelet-n1 was stalled at 5 s, so node-lifecycle heard no heartbeat and tainted nodes/n1 "
        "unreachable; by that taint pods/default/web was deleted, which ran.",
        words=("heartbeat", "stall", "not heard", "taint", "unreachable", "renew"),
    ),
)
