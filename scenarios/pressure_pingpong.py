"""A node of 2 GB: what its kubelet evicts for memory, its scheduler places there again.

It is the example in the proposal of pod priority and preemption, the other way round: the pod that
uses more than it requests has the higher priority. A kubelet that ranks pods by priority first, as
the proposal says, evicts the other one, which requests the whole node and stays within a thousandth
of it. Its ReplicaSet creates it again, and for a scheduler, which counts requests, the node is
empty. That never ends. The kubelet of Kubernetes evicts the pod that exceeds its request, whatever
its priority. Nor does it go on if the scheduler avoids a node that has just evicted such a pod:
`--switch scheduler.avoid_node_after_eviction_ms=600000 --switch scheduler.avoid_how=exclude`.
"""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.pod_gc import PodGC
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import EvictionSettings, Kubelet, Runtime, Threshold
from actors.kubelet.switches import SEED_PCT, SHIPPED
from actors.scheduler import Scheduler
from testbed import Evidence, World, no_lasso
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
)

MB = 10**6
NODE = "n1"
HORIZON_MS = 60_000
"""A condition of the node goes after five minutes, and a pod that fits nowhere is retried after as
many. By then it is known who stays."""
LONG_MS = str(10**9)
SETTINGS = EvictionSettings((Threshold.of("memory.available", "50M"),))
GROWS = "0s=600M 10s=900M 20s=1001M"
"""What the pod uses that requests the whole node."""


def who_comes_again(see: Evidence) -> object:
    """The workload of the pod that was just created; at other times a value that never recurs."""
    new = [c.new.value for c in see.changes if c.old is None and c.new is not None]
    pods = [pod.meta.labels.get("app") for pod in new if isinstance(pod, Pod)]
    return pods or see.store.revision


def one_replica(name: str, priority: int, memory: str, asked_mb: int | None) -> tuple[
    PriorityClass, ReplicaSet
]:  # fmt: skip
    """A ReplicaSet of one pod that requests so much memory, and uses it as told."""
    asked = None if asked_mb is None else asked_mb * MB
    pod = Pod.of("", memory=asked, grace_s=30, priority_class_name=f"of-{name}")
    labels = Map(app=name)
    meta = Meta(labels=labels, annotations=Map({"usage.testbed/memory": memory}))
    spec = ReplicaSetSpec(1, 0, LabelSelector(labels), PodTemplate(meta, pod.spec))
    return PriorityClass(Meta(f"of-{name}"), value=priority), ReplicaSet(Meta(name), spec=spec)


def two_gigabytes(world: World, rank: str) -> None:
    """Assemble a node of 2 GB, its kubelet, and all that places and replaces pods."""
    world.serve(ApiServer)
    world.serve(lambda store: Runtime(store, NODE))
    world.add(Node.of(NODE, cpu_m=4000, memory=2000 * MB))
    given = Map(evict_rank=rank, hard_evict_grace="documented_zero")
    world.start(
        Kubelet(f"kubelet-{NODE}", NODE, eviction=SETTINGS, switches=given),
        ReplicaSetController("replicasets"),
        NodeLifecycle(
            "node-lifecycle", startup_grace_ms=int(LONG_MS),
            switches=Map(node_monitor_grace_ms=LONG_MS),
        ),
        PodGC("pod-gc", period_ms=1000, terminated_max=1),
        Scheduler("default-scheduler"),
    )  # fmt: skip


def pressure_pingpong(world: World, *, guard: bool = False) -> None:
    """The kubelet evicts what the scheduler places again; guarded, it evicts who uses too much."""
    two_gigabytes(world, SHIPPED if guard else SEED_PCT)
    world.add(*one_replica("greedy", 2000, "1000M", None), *one_replica("whole", 200, GROWS, 2000))
    world.limit(horizon_ms=HORIZON_MS)
    world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))
    if not guard:
        world.needs_no_race = "what the kubelet evicts fits the node again, however they are timed"
