"""A kubelet rejects what schedulers have bound to it, and the workload creates it again."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always
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

NODES = ("n1", "n2")
ASKED_M = 700
LATE_MS = 60_000
"""How late the mirror pod comes, because its first create has failed."""
CHURN_MAX = 5


def web(scheduler: str) -> ReplicaSet:
    """A workload of one pod."""
    labels = Map(app="web")
    spec = Pod.of("", cpu_m=ASKED_M, scheduler_name=scheduler).spec
    template = PodTemplate(Meta(labels=labels), spec)
    return ReplicaSet("web", spec=ReplicaSetSpec(1, selector=LabelSelector(labels),
                                                 template=template))  # fmt: skip


def no_pod_is_rejected(see: Evidence) -> str | None:
    """A pod that is bound to a node fits it: no kubelet rejects it."""
    for change in see.changes:
        pod: Any = change.after
        if isinstance(pod, Pod) and pod.status.reason.startswith("OutOf"):
            return f"{pod.spec.node_name} rejects {pod.key}: {pod.status.message}"
    return None


def no_workload_churns(see: Evidence) -> str | None:
    """A workload does not create pods again and again that are rejected."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    rejected = [pod for pod in pods if pod.status.reason.startswith("OutOf")]
    if len(rejected) > CHURN_MAX:
        return f"{len(rejected)} pods of web were rejected by {rejected[0].spec.node_name}"
    return None


def out_of_cpu(
    world: World, *, guard: bool = False, back_off: bool = False, static: bool = False
) -> None:
    """Two schedulers bind two pods to one node, and its kubelet rejects one (kubernetes#72043).

    The ReplicaSet creates it again at once, however often it was rejected; with back_off, 10 s
    later. Guarded, one scheduler has both pods. With static, a static pod takes the room, and its
    mirror pod is late: the scheduler cannot see that pod, and binds new pods to the node as fast as
    it can (kubernetes#72593, kubernetes#115325). Guarded, the mirror pod comes first.

    Cause: the API server checks no bind against the node, so a scheduler that does not know of a
      pod there binds one too many, and only the kubelet refuses it.
    Look for: the kubelet rejects a pod that was bound without knowledge of the other one.
    Source: kubernetes#72043; with `static`, kubernetes#72593 and kubernetes#115325.
    Tags: several-schedulers, stale-cache, check-then-act.
    """
    world.serve(ApiServer)
    taken = Pod.of("agent", cpu_m=ASKED_M)
    habits: dict[str, Any] = {"static_pods": (taken,)} if static else {}
    habits["switches"] = Map(mirror_delay_ms=str(LATE_MS if static and not guard else 0))
    for node in NODES[:1] if static else NODES:
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=1000))
        world.start(Kubelet(f"kubelet-{node}", node, **habits))
    replaced = Map(replace_failed="backoff" if back_off else "at_once")
    world.start(ReplicaSetController("replicasets", switches=replaced))
    world.start(Scheduler("alpha"), Scheduler("beta"))
    # Expectations expire after five minutes: news that is later than that is no news for them.
    world.limit(lateness_ms=60_000)
    if static:
        world.start(User("ann", ((1000, web("alpha")),)))
        world.claim(always(no_workload_churns))
        if not guard and not back_off:
            world.needs_no_race = "the scheduler cannot see who is there, whatever comes first"
        return
    batch = Pod.of("batch", cpu_m=ASKED_M, scheduler_name="alpha" if guard else "beta")
    world.start(User("ann", ((1000, web("alpha")),)), User("ben", ((1000, batch),)))
    world.claim(always(no_pod_is_rejected))
