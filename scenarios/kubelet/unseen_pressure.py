"""A kubelet knows that its disk is full, and the scheduler binds to it pods that it rejects."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import EvictionSettings, Kubelet, Runtime, Threshold
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, Found, World, always
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
)
from testbed.objects.quantity import whole

GB = 10**9
CPU_M = {"n1": 4000, "n2": 1000}
"""The node that is short of disk has more cpu: of two empty nodes the scheduler prefers it."""
DISK, IMAGES, LOGS = 100 * GB, 40 * GB, "55G"
"""What a pod on n1 writes, with the images, leaves less than 15 % of the disk. Without the images
there is room again, but the condition stays for five minutes."""
LOOK_MS = 10_600
"""A kubelet looks at its disk every 10 s, and what it has found it writes at the next tick of
another timer of 10 s. Both begin with the kubelet here; another period sets them apart. So it knows
of the pressure at 10.6 s, and writes it at 20 s."""
SETTINGS = EvictionSettings((Threshold.of("imagefs.available", "15%"),), LOOK_MS)
LOGS_MS, WEB_MS = 5_000, LOOK_MS + 9_191
"""In the issue the pod was created 9.191 s after the kubelet knew of the pressure,"""
BIND_MS, REJECT_MS = 10, 7
"""bound 10 ms later, and rejected 7 ms after its kubelet had heard of it."""
CHURN_MAX = 5
"""As long as a pod does not start, its kubelet looks for ever: a Run does not wait for that."""


def few_pods_are_rejected(see: Evidence) -> Found | None:
    """A workload does not create pods again and again that a node rejects for its pressure."""
    for change in see.changes:
        new: Any = change.after
        if not is_rejected(new):
            continue
        pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
        alike = [pod for pod in pods if is_rejected(pod) and pod.meta.owners == new.meta.owners]
        if len(alike) > CHURN_MAX:
            text = f"{new.key} is the {len(alike)}th pod that {new.spec.node_name} rejects"
            return Found(text, reason="too many")
    return None


def is_rejected(item: object) -> bool:
    """Whether it is a pod that a kubelet has rejected because its node is short of something."""
    return isinstance(item, Pod) and "The node had condition: " in item.status.message


def with_disk(node: Node) -> Node:
    """The same node with a disk."""
    has = Map({**node.status.capacity, "ephemeral-storage": whole(DISK)})
    return attrs.evolve(node, status=attrs.evolve(node.status, capacity=has, allocatable=has))


def web() -> ReplicaSet:
    """A workload of one pod."""
    labels = Map(app="web")
    template = PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=500).spec)
    return ReplicaSet("web", spec=ReplicaSetSpec(1, selector=LabelSelector(labels),
                                                 template=template))  # fmt: skip


def unseen_pressure(world: World, *, guard: bool = False) -> None:
    """Before a kubelet writes of its pressure, pods are bound and rejected (kubernetes#78416).

    A disk is nearly full. Its kubelet knows that at once, and rejects pods from then on; it says so
    in the status of its node at the next tick, up to ten seconds later, and from that follows the
    taint by which the scheduler goes. A pod that comes in between is bound to that node and
    rejected. Its ReplicaSet creates it again at once, the node still is the one with most room, and
    so on until the taint is there.

    Guarded, the ReplicaSet waits ten seconds before it replaces a pod that has failed. By then the
    scheduler knows, and the second pod comes to the other node.

    Cause: a kubelet admits by what it knows, and the scheduler goes by what the kubelet last wrote.
    Look for: pods that are bound to n1 and rejected, before kubelet-n1 patches its node.
    Source: kubernetes#78416, kubernetes#76325, kubernetes PR#130411.
    Tags: pressure, two-views, stale-cache, no-timing.
    """
    world.serve(ApiServer)
    for name, cpu_m in CPU_M.items():
        world.serve(partial(Runtime, node=name, images=IMAGES))
        world.add(with_disk(Node.of(name, cpu_m=cpu_m)))
        world.start(Kubelet(f"kubelet-{name}", name, eviction=SETTINGS))
    logs = Pod.of("logs", cpu_m=100, node_name="n1")
    logs = logs.with_meta(annotations=Map({"usage.testbed/disk": LOGS}))
    given = Map(events="off", replace_failed="backoff" if guard else "at_once")
    world.start(
        User("ann", ((LOGS_MS, logs),)),
        User("ben", ((WEB_MS, web()),)),
        Scheduler("default-scheduler"),
        NodeLifecycle("node-lifecycle"),
        ReplicaSetController("replicasets", switches=given),
    )
    world.latency("bind pods", serve_ms=BIND_MS)
    world.latency("patch pods/*/status", actor="kubelet-*", serve_ms=REJECT_MS)
    world.claim(always(few_pods_are_rejected))
    if not guard:
        world.needs_no_race = "a kubelet writes the status of its node up to ten seconds late"
