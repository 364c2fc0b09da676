"""A scheduler is told of its own pods alone, and binds to nodes that others have filled."""

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
    requests_of,
    room_of,
)

CPU_M = {"n1": 1000, "n2": 800}
"""What the nodes have: of two empty ones a scheduler prefers the larger."""
BATCH_MS, WEB_MS = 1_000, 2_000
TURNS_MAX = 3_000


def no_full_node_is_chosen(see: Evidence) -> str | None:
    """A scheduler that has been told of a pod has been told of all that was before it. So it binds
    that pod to no node that was full when the pod was created, and is full of the same pods still.
    What was bound later it need not know: that is a race, and the next attempt ends it."""
    for change in see.changes:
        pod: Any = change.after
        if change.new is None or not isinstance(pod, Pod) or not pod.is_bound:
            continue
        node: Any = see.store.peek(f"nodes/{pod.spec.node_name}")
        if is_bound(change.before) or node is None or change.new.created < see.store.compacted:
            continue
        before = there(see, pod.spec.node_name, change.new.created)
        now = [each.meta.uid for each in there(see, pod.spec.node_name)]
        stayed = [each for each in before if each.meta.uid in now and each.key != pod.key]
        asked_m = sum(requests_of(each).get("cpu", 0) for each in (*stayed, pod))
        if stayed and asked_m > room_of(node.value)["cpu"]:
            bound = f"{pod.spec.scheduler_name} bound {pod.key} to {pod.spec.node_name}"
            return f"{bound}, which {stayed[0].key} has filled since before it was created"
    return None


def is_bound(found: object) -> bool:
    """Whether that is a pod that has a node."""
    return isinstance(found, Pod) and found.is_bound


def there(see: Evidence, node: str, at: int | None = None) -> list[Pod]:
    """The pods on a node that are not over: now, or at a revision."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/", at)]
    return [pod for pod in pods if pod.spec.node_name == node and not pod.is_over]


def web() -> ReplicaSet:
    """A workload of one pod, which is alpha's to place."""
    labels = Map(app="web")
    template = PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=500, scheduler_name="alpha").spec)
    spec = ReplicaSetSpec(1, selector=LabelSelector(labels), template=template)
    return ReplicaSet("web", spec=spec)


def blind_scheduler(world: World, *, guard: bool = False) -> None:
    """A scheduler never hears of a pod that another one has bound (kubernetes PR#63003).

    Beta binds a pod that fills n1. Alpha's pod informer selects by `spec.schedulerName`, and shows
    alpha its own pods alone. So when a ReplicaSet of alpha's creates a pod, n1 is the emptiest node
    for alpha, which binds it there. The kubelet rejects it, the ReplicaSet creates another, and
    alpha binds that to n1 as well, as fast as it can, while n2 has room. Were the news only late,
    alpha would bind one pod there at most; but no later event tells it.

    Guarded, the informer shows all pods that are not over.

    Cause: the pod informer has a field selector by scheduler name, so the cache lacks other pods.
    Look for: what beta and the kubelets are told of, and alpha is not.
    Source: kubernetes PR#63003, kubernetes#63002.
    Tags: several-schedulers, stale-cache, endless, no-timing.
    """
    world.serve(ApiServer)
    for name, cpu_m in CPU_M.items():
        world.serve(partial(Runtime, node=name))
        world.add(Node.of(name, cpu_m=cpu_m))
        world.start(Kubelet(f"kubelet-{name}", name))
    told = Map(pods_seen="all" if guard else "own")
    world.start(Scheduler("alpha", switches=told), Scheduler("beta"))
    world.start(ReplicaSetController("replicasets", switches=Map(events="off")))
    batch = Pod.of("batch", cpu_m=1000, scheduler_name="beta")
    world.start(User("ann", ((BATCH_MS, batch),)), User("ben", ((WEB_MS, web()),)))
    world.claim(always(no_full_node_is_chosen))
    if not guard:
        # It never ends, within one instant: a comparison goes on after a Violation.
        world.limit(turns_max=TURNS_MAX)
        world.needs_no_race = "alpha is not told of what beta binds, however long it waits"
