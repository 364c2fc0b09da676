"""The kubelet evicts the most important pod on the node, since it uses more than it requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import EvictionSettings, Kubelet, Runtime, Threshold
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Map, Node, Pod, PriorityClass

MB = 10**6
SETTINGS = EvictionSettings((Threshold.of("memory.available", "50M"),))
H_MS = 1_000
GROWS = "0s=600M 10s=900M 20s=1001M"
"""What the new pod uses. By the last of it the node is short, by one megabyte."""


def be_is_evicted_and_h_stays(see: Evidence) -> str | None:
    """The more important pod is evicted, and the one that is within its request runs. After a fault
    it may not have come as far as that; but then, too, be stays until it is evicted beside h, which
    is not."""
    values: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    pods = {pod.key: pod for pod in values}
    found = {key: pod.status.reason or pod.status.phase for key, pod in pods.items()}
    if found == {"pods/default/be": "Evicted", "pods/default/h": "Running"}:
        return None
    be, h = found.get("pods/default/be"), pods.get("pods/default/h")
    is_in_order = be != "Evicted" or (h is not None and h.is_bound)
    if see.faults and is_in_order and be and found.get("pods/default/h") != "Evicted":
        return None
    return ", ".join(f"{key} is {how}" for key, how in found.items())


def two_gigabytes_inverse(world: World) -> None:
    """A node is short of memory, and the pod that goes is the most important one on it.

    A node has 2 GB. Be has priority 2000, requests nothing, and uses half of it. H has priority
    200 and requests all 2 GB: by requests there is room, so the scheduler places it beside be. When
    H has grown to 1001 MB, the node is short. A kubelet first asks who uses more than it requests,
    and only among those who is less important. That is be alone. If H went, as the design says, its
    owner would create it again, and the scheduler place it on the node, which is empty by requests:
    a ping-pong without end.

    Cause: a kubelet evicts by usage over request first, and by priority second.
    Look for: the message of the eviction says what be requests; nothing in it speaks of priority.
    Source: the design "Pod Preemption in Kubernetes", the docs page "Pod Priority and Preemption".
    Tags: two-views, pressure, eviction, priority.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(PriorityClass("top", value=2000), PriorityClass("usual", value=200))
    world.add(Node.of("n1", cpu_m=4000, memory=2000 * MB))
    be = Pod.of("be", node_name="n1", priority_class_name="top")
    world.add(be.with_meta(annotations=Map({"usage.testbed/memory": "1000M"})))
    h = Pod.of("h", memory=2000 * MB, priority_class_name="usual")
    h = h.with_meta(annotations=Map({"usage.testbed/memory": GROWS}))
    world.start(Kubelet("kubelet-n1", "n1", eviction=SETTINGS), Scheduler("default-scheduler"))
    world.start(User("ann", ((H_MS, h),)))
    world.claim(quiescent(be_is_evicted_and_h_stays, reads=()))
