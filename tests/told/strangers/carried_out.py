"""Carried out: a drain evicts a pod, as its budget allows; a kubelet carries that out, and the pod
that replaces it finds no room."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.users.drain import Drain
from testbed import Evidence, World, quiescent
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Meta,
    Node,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    PodTemplate,
    ReplicaSet,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.objects.workload import ReplicaSetSpec
from tests.told.frame import Told

LABELS = Map(app="web")
OWNER = Owner("apps/v1", "ReplicaSet", "web", "web", True)


def running(name: str, node: str) -> Pod:
    """A pod of web that is ready."""
    pod = Pod.of(name, cpu_m=600, node_name=node, grace_s=5, labels={"app": "web"})
    status = PodStatus("Running", conditions=(Condition("Ready", "True"),))
    return attrs.evolve(pod, status=status).with_meta(owners=(OWNER,))


def web_has_its_two_pods(see: Evidence) -> str | None:
    """In the end both pods of web are ready again."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    ready = [pod for pod in pods if pod.is_ready and not pod.meta.is_terminating]
    return f"web wants 2 ready pods, and has {len(ready)}" if len(ready) < 2 else None


def carried_out(world: World, *, guard: bool = False) -> None:
    """A node is drained, and no other has room for its pod; guarded, another has."""
    world.serve(ApiServer)
    for name, cpu_m in (("n1", 1000), ("n2", 1500 if guard else 1000)):
        world.add(Node.of(name, cpu_m=cpu_m))
        world.serve(partial(Runtime, node=name))
        world.start(Kubelet(f"kubelet-{name}", name))
    selector = LabelSelector(LABELS)
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=600, grace_s=5).spec)
    spec = ReplicaSetSpec(2, selector=selector, template=template)
    world.add(ReplicaSet(Meta("web", "default", uid=OWNER.uid), spec=spec))
    world.add(running("web-1", "n1"), running("web-2", "n2"))
    wants = PodDisruptionBudgetSpec(min_available=1, selector=selector)
    world.add(PodDisruptionBudget("web", spec=wants))
    quiet = Map(events="off")
    world.start(Scheduler("default-scheduler"), DisruptionController(switches=quiet))
    world.start(ReplicaSetController("replicasets", switches=quiet))
    world.start(Drain("drain", ("n1",), at_ms=1_000))
    world.claim(quiescent(web_has_its_two_pods))


TRUE = Told(
    carried_out,
    actor=("drain", "default-scheduler", "replicasets"),
    about=("pods/default/web-", "nodes/n1", r"\bn1\b"),
    words=("no room", "found no node", "Insufficient", "fits nowhere", "no node", "cordon",
           "unschedulable"),
    never=("kubelet-n1 deleted", "allowed no disruption"),
    said=(
        "drain cordoned nodes/n1 and evicted pods/default/web-1, as the budget allowed; "
        "default-scheduler found no node for the pod that replaces it: Insufficient cpu on "
        "n2."
    ),
)  # fmt: skip
