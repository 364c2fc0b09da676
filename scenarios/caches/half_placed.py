"""A volume is placed, the scheduler dies before its pod is, and another pod takes the node."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.framework.filter import State
from actors.framework.filters import FILTERS
from actors.scheduler import (
    Filter,
    NodeInfo,
    PodInfo,
    Refusal,
    Rejected,
    Scheduler,
    Snapshot,
)
from actors.shared.crash_over import CrashOver
from actors.shared.user import User
from testbed import ApiError, Client, Evidence, Found, World, always
from testbed.objects import LabelSelector, Map, Node, Pod
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.node import HOSTNAME

SCHEDULER, APP = "default-scheduler", Map(app="db")
APART = PodAffinity(required=(PodAffinityTerm(HOSTNAME, LabelSelector(APP)),))
VOLUME = "volumes.testbed.example/"
"""An annotation of a node that begins so names a pod that has a volume on it."""
RED_MS, BLUE_MS, DOWN_MS = 1_000, 2_000, 5_000
"""The first pod comes before the crash, the second while the scheduler is down."""


@attrs.frozen(eq=False)
class LocalVolumes(Filter):
    """Local volumes, as a plugin: a pod gets one on the node that is chosen for it before it is
    bound (PreBind), and from then on fits no other node (Filter).

    If it is `careful`, a node with the volume of another pod of the application counts as taken,
    and a volume is placed by a write that names the revision of the node.
    """

    name = "LocalVolumes"
    careful: bool = False

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        """The name of the pod, and the nodes that have its volume."""
        name = pod.pod.meta.name
        return name, [info.name for info in snapshot.infos if name in volumes_on(info.node)]

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        name, homes = state
        if homes and node.name not in homes:
            return self.no("node(s) had volume node affinity conflict", is_resolvable=False)
        if self.careful and not volumes_on(node.node) <= {name}:
            return self.no("node(s) had the volume of another replica", is_resolvable=False)
        return None

    async def pre_bind(self, client: Client, pod: Pod, node: str) -> Rejected | None:
        """Place the volume, if it is not there yet."""
        meta: dict[str, Any] = {"annotations": {f"{VOLUME}{pod.meta.name}": "placed"}}
        try:
            if self.careful:
                found = await client.get(Node, node)
                if not volumes_on(found) <= {pod.meta.name}:
                    return Rejected(f"{node} had the volume of another replica")
                meta["resourceVersion"] = found.meta.revision
            await client.patch(Node(node), {"metadata": meta})
        except ApiError as error:
            return Rejected(str(error), is_error=True)
        return None


def volumes_on(node: Node | None) -> set[str]:
    """The names of the pods that have a volume on a node."""
    keys = node.meta.annotations if node is not None else ()
    return {key.removeprefix(VOLUME) for key in keys if key.startswith(VOLUME)}


def no_replica_is_shut_out(see: Evidence) -> Found | None:
    """No pod waits that has its volume on a node with another pod that it must be apart from: it
    can go nowhere else, and not there either."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    for entry in see.store.snapshot("nodes/"):
        node: Any = entry.value
        name = node.meta.name
        there = [pod.key for pod in pods if pod.spec.node_name == name]
        waits = [p.key for p in pods if p.meta.name in volumes_on(node) and not p.is_bound]
        if there and waits:
            text = f"{waits[0]} waits for ever: its volume is on {name}, and {there[0]} is there"
            return Found(text, reason="missing")
    return None


def half_placed(world: World, *, guard: bool = False) -> None:
    """A volume is placed, the scheduler restarts, and another pod has its node (kubernetes#126499).

    Two replicas must be on different nodes, and each has a local volume. The scheduler chooses n1
    for red, places its volume there (PreBind) and crashes before the bind. Its next life has its
    queue in the order of its list, so blue comes first: for all that filters look at, n1 is free,
    and blue is bound there. Red is pinned to n1 by its volume and kept away from it by blue: it is
    pending for ever. A change of the leader does the same (kubernetes#107262).

    Volumes are a plugin here: an annotation of the node names their pods. Guarded, they count
    as places taken: no other replica is bound to a node with one, and a volume is placed only by a
    write that names the revision of the node, so that one which is still under way at the crash
    cannot come later.

    Cause: a pod is placed by two writes, its volume and its bind, and a crash between them leaves
      the first in force, which only that pod heeds.
    Look for: the crash after the patch of n1, and who is taken from the queue first after it.
    Source: kubernetes#126499, kubernetes#107262.
    Tags: restart, affinity, write-order, silent.
    """
    world.serve(ApiServer)
    for node, cpu_m in (("n1", 2000), ("n2", 1000)):
        world.add(Node.of(node, cpu_m=cpu_m, labels={HOSTNAME: node}))
    plugin = partial(LocalVolumes, careful=guard)
    world.start(Scheduler(SCHEDULER, filters=(*FILTERS, plugin()), plugins=(plugin,)))
    apart = Affinity(pod_anti_affinity=APART)
    red, blue = (
        Pod.of(name, cpu_m=100, labels=APP, scheduler_name=SCHEDULER, affinity=apart)
        for name in ("red", "blue")
    )
    world.start(User("ann", ((RED_MS, red), (BLUE_MS, blue))))
    over = CrashOver(SCHEDULER, over="patch nodes/*", is_served=True, restart_after_ms=DOWN_MS)
    world.allow(over)
    world.claim(always(no_replica_is_shut_out))
