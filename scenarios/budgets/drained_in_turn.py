"""Two people drain two nodes at once, and each has one of the two pods of an application."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.apiserver.invariants import EvictionsKeepToBudgets
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.users.drain import Drain, DrainOptions
from testbed import Evidence, Found, World, always
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Meta,
    Node,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
    PodTemplate,
    ReplicaSet,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.objects.workload import ReplicaSetSpec

LABELS = Map(app="web")
OWNER = Owner("apps/v1", "ReplicaSet", "web", "web", True)
DRAINED, SPARE = ("n1", "n2"), "n3"
FLOOR = 1
"""How many pods of the application are to be healthy; there are two."""
READY_MS = 2_000
"""How long a new pod takes to get ready."""
AT_MS, TIMEOUT_MS = 1_000, 30_000
"""When both drains begin, and how long one may take. An eviction that does not come is counted on
for two minutes."""


def the_application_stays_up(see: Evidence) -> Found | None:
    """As many of its pods as the budget wants are ready and not about to go: here nothing ends a
    pod but drains, which ask the budget."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    up = [pod for pod in pods if pod.is_ready and not pod.meta.is_terminating]
    if len(up) < FLOOR:
        return Found(f"web wants {FLOOR} healthy pod, and none of {len(pods)} is", reason="missing")
    return None


def running(number: int, node: str) -> Pod:
    """A pod of the application that is ready."""
    pod = Pod.of(f"web-{number}", cpu_m=100, node_name=node, grace_s=0, labels={"app": "web"})
    status = PodStatus("Running", conditions=(Condition("Ready", "True"),))
    return attrs.evolve(pod, status=status).with_meta(owners=(OWNER,))


def drained_in_turn(world: World, *, disable_eviction: bool = False) -> None:
    """Two drains race for the one disruption that a budget allows; one of them has to wait.

    Both nodes are cordoned. Both drains ask the eviction API at the same time, and the budget says
    that one pod may go. The API server takes that one disruption off the status of the budget
    before it deletes a pod. If both requests have read the same status, the second is refused by
    its revision, and reads again: none is left. That drain asks again every five seconds. Meanwhile
    the ReplicaSet creates another pod, which is placed on the third node and gets ready, and the
    disruption controller counts again. Its own write is refused, too, if an eviction has come in
    between.

    News may be late, and requests and replies may be lost: then a drain fails, and has taken one
    disruption at most.

    Cause: whoever lowers a budget compares and swaps its status, so no disruption is taken twice.
    Look for: the second eviction, which the budget refuses, and what it waits for.
    Source: kubernetes#82149; the function checkAndDecrement of the file eviction.go of Kubernetes.
    Tags: disruption-budget, eviction, check-then-act, lost-reply.
    Kind: control.
    """
    world.serve(ApiServer)
    world.add(*(Node.of(name, cpu_m=1000, unschedulable=True) for name in DRAINED))
    world.add(Node.of(SPARE, cpu_m=1000))
    selector = LabelSelector(LABELS)
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100, grace_s=0).spec)
    spec = ReplicaSetSpec(len(DRAINED), selector=selector, template=template)
    world.add(ReplicaSet(Meta("web", "default", uid=OWNER.uid), spec=spec))
    world.add(*(running(number, node) for number, node in enumerate(DRAINED, 1)))
    wants = PodDisruptionBudgetSpec(min_available=FLOOR, selector=selector)
    counted = PodDisruptionBudgetStatus(1, 2, FLOOR, 2)
    world.add(PodDisruptionBudget("web", spec=wants, status=counted))
    world.serve(partial(Runtime, node=SPARE))
    kubelet = Kubelet(f"kubelet-{SPARE}", SPARE, ready_delay_ms=READY_MS)
    world.start(kubelet, Scheduler("default-scheduler"))
    quiet = Map(events="off")
    disruption = DisruptionController(switches=quiet)
    world.start(disruption, ReplicaSetController("replicasets", switches=quiet))
    options = DrainOptions(timeout_ms=TIMEOUT_MS, disable_eviction=disable_eviction)
    for node in DRAINED:
        world.start(Drain(f"drain-{node}", (node,), AT_MS, options))
    if disable_eviction:
        world.needs_no_race = "a delete asks no budget"
    world.allow(Lag(disruption.name), LoseRequest(disruption.name))
    world.allow(LoseRequest("drain-*"), LoseReply("drain-*"))
    world.claim(always(the_application_stays_up, reads=("log:pods",)), EvictionsKeepToBudgets())
