"""A pod that the scheduler does not preempt is evicted by the kubelet for the same pod."""

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


def bu_is_preempted_and_be_evicted(see: Evidence) -> str | None:
    """The pod with requests is deleted, the one without is evicted, and the new one runs. After a
    fault it may not have come as far as that; but then, too, bu goes before h comes, and be stays
    until it is evicted beside h, which is not."""
    values: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    pods = {pod.key: pod for pod in values}
    found = {key: pod.status.reason or pod.status.phase for key, pod in pods.items()}
    if found == {"pods/default/be": "Evicted", "pods/default/h": "Running"}:
        return None
    be, h = found.get("pods/default/be"), pods.get("pods/default/h")
    steps = ["pods/default/bu" not in found, h is not None and h.is_bound, be == "Evicted"]
    is_in_order = sorted(steps, reverse=True) == steps
    if see.faults and is_in_order and be and found.get("pods/default/h") != "Evicted":
        return None
    return ", ".join(f"{key} is {how}" for key, how in found.items())


def two_gigabytes(world: World) -> None:
    """The scheduler preempts one pod and spares another, which the kubelet evicts later.

    A node has 2 GB. Bu requests 500 MB and uses 900; be requests nothing and uses 1000. H, which is
    more important, requests all 2 GB. The scheduler preempts bu alone: by requests, the node is
    empty without it. H starts beside be, and grows. When 50 MB are left the node is short, and its
    kubelet evicts be, which uses more than it requests. H does not.

    Cause: a scheduler counts requests, and a kubelet what is used.
    Look for: one component spares be, and the other one does not.
    Source: the design "Pod Preemption in Kubernetes".
    Tags: two-views, pressure, eviction, grace-period.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(PriorityClass("usual", value=100), PriorityClass("urgent", value=200))
    world.add(Node.of("n1", cpu_m=4000, memory=2000 * MB))
    for name, usage, memory in (("bu", "900M", 500 * MB), ("be", "1000M", None)):
        pod = Pod.of(name, memory=memory, node_name="n1", priority_class_name="usual")
        world.add(pod.with_meta(annotations=Map({"usage.testbed/memory": usage})))
    h = Pod.of("h", memory=2000 * MB, priority_class_name="urgent")
    h = h.with_meta(annotations=Map({"usage.testbed/memory": GROWS}))
    world.start(Kubelet("kubelet-n1", "n1", eviction=SETTINGS), Scheduler("default-scheduler"))
    world.start(User("ann", ((H_MS, h),)))
    world.claim(quiescent(bu_is_preempted_and_be_evicted, reads=()))
