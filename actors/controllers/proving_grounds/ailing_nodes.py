"""Ailing nodes: a tainted node, one that is away for a while, and the pods that should outlive it.

The claims about those who delete pods for the good of the cluster are checked in it, and their
mutants are hunted in it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.controllers.descheduler.descheduler import Descheduler
from actors.controllers.descheduler.policy import DUPLICATES, DeschedulerPolicy
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.frame.control_loop import KeyedController
from actors.controllers.invariants import deletion_claims
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction
from actors.controllers.pod_gc import PodGC
from testbed import Actor, ApiError, Client, World
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Node,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
    Toleration,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec

QUIET = Map(events="off")
LABELS = Map(app="a")
AWAY_MS, LATE_MS = 70_000, 25_000
"""How long a node is away, and by how much later the garbage collector hears of that."""
PASS_MS = 60_000
"""The time between two passes of the descheduler."""
Made = Callable[..., KeyedController]


@attrs.frozen
class NodeOwner(Actor):
    """Taints one node, and deletes another one and creates it again."""

    async def run(self, client: Client) -> None:
        with suppress(ApiError):
            await client.delete(Node.of("n3"), whatever_it_was=True)
        await client.sleep(5_000, "taint")
        with suppress(ApiError):
            taint = {"key": "bad", "effect": "NoExecute"}
            await client.patch(Node.of("n2"), {"spec": {"taints": [taint]}})
        await client.sleep(AWAY_MS, "come back")
        with suppress(ApiError):
            await client.create(Node.of("n3", cpu_m=1000))


def ailing_nodes(
    world: World,
    disruption: Made = DisruptionController,
    eviction: Made = TaintEviction,
    collector: Made = PodGC,
    descheduler: Made = Descheduler,
) -> None:
    """Assemble the World, with these controllers, and claim all that they owe."""
    world.serve(ApiServer)
    world.add(*(Node.of(name, cpu_m=1000) for name in ("n1", "n2", "n3")))
    world.add(*(_running(f"a{number}", "n1", labels=LABELS) for number in (1, 2, 3)))
    world.add(_budget(), _running("lost", "n3"))
    short = Toleration("bad", "Exists", toleration_seconds=30)
    world.add(_running("patient", "n2", tolerations=(short,)))
    owners = (Owner("apps/v1", "ReplicaSet", "vital", "vital", True),)
    ever = (Toleration(operator="Exists"),)
    for name in ("vital-1", "vital-2"):
        vital = _running(name, "n1", tolerations=ever, priority=2_000_000_000)
        world.add(vital.with_meta(owners=owners))
    policy = DeschedulerPolicy((DUPLICATES,))
    world.start(disruption(switches=QUIET), eviction(switches=QUIET), collector(switches=QUIET))
    world.start(descheduler(policy=policy, interval_ms=PASS_MS, switches=QUIET))
    world.start(NodeOwner("owner"))
    world.latency("watch nodes", actor="pod-gc", deliver_ms=LATE_MS)
    world.claim(*deletion_claims())


def _running(name: str, node: str, labels: Map[str] | None = None, **spec: Any) -> Pod:
    """A pod that runs on that node and is ready."""
    pod = Pod.of(name, cpu_m=10, node_name=node, grace_s=0, labels=labels, **spec)
    status = PodStatus("Running", conditions=(Condition("Ready", "True"),))
    return attrs.evolve(pod, status=status)


def _budget() -> PodDisruptionBudget:
    """A budget that has granted an eviction which never comes."""
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(LABELS))
    status = PodDisruptionBudgetStatus(1, 2, 1, 3, disrupted_pods=Map(a1=0))
    return PodDisruptionBudget("a", spec=spec, status=status)
