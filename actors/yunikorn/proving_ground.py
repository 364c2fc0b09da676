"""Shared nodes: two of them, on which YuniKorn, its DaemonSets and another scheduler meet.

The claims about YuniKorn are checked in it, and its mutants are hunted in it. What comes, how large
it is and how important are picks, so that each Run is another small cluster.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.controllers.daemonset import DaemonSetController
from actors.kubelet.invariants import NodesAreNotOverbooked
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.runtime import Runtime
from actors.kubelet.workload import Workload
from actors.scheduler.scheduler import Scheduler
from actors.shared.retries import make, until_told
from actors.yunikorn.core.core import YuniKornCore
from actors.yunikorn.invariants import RequiredAsksAreServed, yunikorn_claims
from actors.yunikorn.shim.shim import YuniKornShim
from testbed import Actor, Client, NotFound, World
from testbed.objects import (
    UNSET,
    DaemonSet,
    DaemonSetSpec,
    LabelSelector,
    Map,
    Meta,
    Node,
    Object,
    Pod,
    PodTemplate,
    PriorityClass,
)

NODES = ("n1", "n2")
GRACE_S = 5
CPU_M = 4000
ENDS = Workload(runs_ms=10_000)
"""A pod that ends by itself, and stays there when it is over."""
MODERN = "k8s-modern"
RARE, USUAL = "vital", "usual"
CLASSES = {USUAL: 0, RARE: 100}
"""The priority classes, and their values."""


@attrs.frozen
class Tenants(Actor):
    """People who create pods and DaemonSets, and delete a pod: what exactly, they pick."""

    has_rival: bool = False
    """Whether some of the pods are for the other scheduler."""
    flaps: bool = False
    """Whether they delete a node and create it again."""

    async def run(self, client: Client) -> None:
        for at_ms, item in self._wanted(client):
            await client.sleep(max(at_ms - client.now(), 0), f"create {item.key}")
            await make(client, item)
        if self.flaps:
            await self._flap(client)
        gone = client.pick("who goes", ("a", "c", "late"))
        await client.sleep(20_000, "delete a pod")
        try:
            await until_told(
                client, lambda: client.delete(Pod(gone), whatever_it_was=True), why="retry"
            )
        except NotFound:
            client.record("was gone", pod=gone)

    async def _flap(self, client: Client) -> None:
        await client.sleep(client.pick("flap after", (100, 5_000)), "delete a node")
        node = await client.get(Node, NODES[1])
        await client.delete(node, whatever_it_was=True)
        await client.sleep(client.pick("back after", (100, 2_000)), "create a node")
        await make(client, node.with_meta(uid="", revision=UNSET))

    def _wanted(self, client: Client) -> list[tuple[int, Object]]:
        logs = client.pick("size of logs", (2, 1, 3))
        more = client.pick("size of metrics", (1, 2))
        late = client.pick("size of late", (1, 3))
        importance = client.pick("class of logs", (USUAL, RARE))
        rival = "default-scheduler" if self.has_rival else "yunikorn"
        return [
            (1_000, pod_of("late", late, class_name=client.pick("class of late", (USUAL, RARE)))),
            (2_000, daemon_set("logs", logs, importance)),
            (3_000, pod_of("rival", 1, scheduler_name=rival)),
            (20_000, daemon_set("metrics", more, USUAL)),
        ]


def shared_nodes(
    world: World,
    shim: type[YuniKornShim] = YuniKornShim,
    core: type[YuniKornCore] = YuniKornCore,
    *,
    profile: str = MODERN,
    has_rival: bool = False,
    is_stricken: bool = False,
    flaps: bool = False,
    **switches: Any,
) -> None:
    """Assemble the World with such a YuniKorn, and claim all that must hold of it. If
    faults strike, a delete may fail, so it is not claimed that victims make room. If it flaps, a
    node goes and comes back, and the pods on it stay."""
    world.serve(ApiServer)
    world.serve(partial(core, profile=profile, switches=switches))
    world.add(*(PriorityClass(name, value=value) for name, value in CLASSES.items()))
    for name in NODES:
        world.serve(partial(Runtime, node=name))
        world.add(Node.of(name, cpu_m=CPU_M))
        world.start(Kubelet(f"kubelet-{name}", name))
    world.add(
        pod_of("a", 2, node_name="n1"), pod_of("b", 1, node_name="n1"),
        pod_of("c", 2, node_name="n2"),
        ENDS.given_to(pod_of("ends", 1, class_name=RARE, node_name="n2", restart_policy="Never")),
    )  # fmt: skip
    world.start(DaemonSetController("daemonsets", switches=Map(events="off")), shim())
    if has_rival:
        world.start(Scheduler("default-scheduler"))
    world.start(Tenants("tenants", has_rival, flaps))
    is_alone = not has_rival and not is_stricken and not flaps and profile == MODERN
    claims = yunikorn_claims(alone=is_alone)
    # What ships now gives free room to the pods that wait for it; version 1.1 does not (YK-34).
    given = [each for each in claims if not isinstance(each, RequiredAsksAreServed)]
    world.claim(*(claims if profile == MODERN else given))
    if is_alone:
        world.claim(NodesAreNotOverbooked())


def pod_of(name: str, cpu: int, *, class_name: str = USUAL, **spec: Any) -> Pod:
    """A pod of YuniKorn, unless another scheduler is named."""
    usual = {"scheduler_name": "yunikorn", "priority_class_name": class_name, "grace_s": GRACE_S}
    given = {**usual, "priority": CLASSES[class_name], **spec}
    return Pod.of(name, cpu_m=1000 * cpu, labels={"applicationId": "batch"}, **given)


def daemon_set(name: str, cpu: int, class_name: str) -> DaemonSet:
    """A DaemonSet with pods that YuniKorn schedules."""
    labels = Map(app=name, applicationId=name)
    wanted = pod_of("", cpu, class_name=class_name).spec
    wanted = attrs.evolve(wanted, priority=None)
    template = PodTemplate(Meta(labels=labels), wanted)
    return DaemonSet(name, spec=DaemonSetSpec(selector=LabelSelector(labels), template=template))
