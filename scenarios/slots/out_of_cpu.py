"""A kubelet rejects what schedulers have bound to it, and the workload creates it again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.frame.wanted import wanted_by
from actors.controllers.replicaset import ReplicaSetController, ReplicaSetLoop
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
from testbed.objects.pod import FAILED

NODES = ("n1", "n2")
ASKED_M = 700
LATE_MS = 60_000
"""How late the mirror pod comes, because its first create has failed."""
FIRST_MS, MOST_MS = 10_000, 300_000
"""How long a controller that backs off waits after the first pod that failed; it doubles."""
CHURN_MAX = 5


class BackingOffLoop(ReplicaSetLoop):
    """Waits before it replaces pods that have failed: 10 s, doubling (kubernetes PR#130411)."""

    async def manage(self, item: ReplicaSet, pods: Sequence[Pod]) -> None:
        failed = [pod for pod in self.pods.of(item) if pod.status.phase == FAILED]
        if failed and len(pods) < wanted_by(item):
            last_ms = max(pod.meta.created_ms or 0 for pod in failed)
            wait_ms = min(FIRST_MS * 2 ** (len(failed) - 1), MOST_MS)
            in_ms = last_ms + wait_ms - self.client.now()
            if in_ms > 0:
                self.todo.add(item.key, in_ms)
                return
        await super().manage(item, list(pods))


@attrs.frozen
class BackingOff(ReplicaSetController):
    """A ReplicaSet controller that backs off from pods that fail; that of Kubernetes does not."""

    loop = BackingOffLoop


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
    """
    world.serve(ApiServer)
    taken = Pod.of("agent", cpu_m=ASKED_M)
    habits: dict[str, Any] = {"static_pods": (taken,)} if static else {}
    habits["switches"] = Map(mirror_delay_ms=str(LATE_MS if static and not guard else 0))
    for node in NODES[:1] if static else NODES:
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=1000))
        world.start(Kubelet(f"kubelet-{node}", node, **habits))
    world.start((BackingOff if back_off else ReplicaSetController)("replicasets"))
    world.start(Scheduler("alpha"), Scheduler("beta"))
    world.limit(horizon_ms=200_000)
    if static:
        world.start(User("ann", ((1000, web("alpha")),)))
        world.claim(always(no_workload_churns))
        if not guard and not back_off:
            world.needs_no_race = "the scheduler cannot see who is there, whatever comes first"
        return
    batch = Pod.of("batch", cpu_m=ASKED_M, scheduler_name="alpha" if guard else "beta")
    world.start(User("ann", ((1000, web("alpha")),)), User("ben", ((1000, batch),)))
    world.claim(always(no_pod_is_rejected))
