"""A scheduler dies over making room on one node, comes back, and makes it on another."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.crash_over import CrashOver
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Node,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    PriorityClass,
    requests_of,
    room_of,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec

SCHEDULER, LABELS = "default-scheduler", Map(app="web")
URGENT_MS, DOWN_MS = 1_000, 5_000
GRACE_S = 30
"""How long a victim takes to end: longer than the scheduler is down."""


def nobody_goes_while_room_is_coming(see: Evidence) -> str | None:
    """No pod is preempted for one that fits without that, as soon as those have gone that are
    terminating already."""
    for change in see.changes:
        old: Any = change.before
        new: Any = change.after
        if not isinstance(old, Pod) or not old.is_bound or old.meta.is_terminating:
            continue
        if new is None or new.meta.is_terminating:
            said = who_goes_already(see, old)
            if said:
                return said
    return None


def who_goes_already(see: Evidence, old: Pod) -> str:
    """Which pod is terminating for the one that `old` is preempted for; empty: none."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    others = [pod for pod in pods if pod.key != old.key]
    for entry in see.store.snapshot("nodes/"):
        node: Any = entry.value
        name = node.meta.name
        here = [pod for pod in (*others, old) if pod.spec.node_name == name]
        going = [pod.key for pod in here if pod.meta.is_terminating]
        asked = sum(requests_of(pod)["cpu"] for pod in here if not pod.meta.is_terminating)
        for pod in others if going else ():
            fits = requests_of(pod)["cpu"] <= room_of(node)["cpu"] - asked
            if fits and not pod.is_bound and pod.priority > old.priority:
                ends = f"{going[0]} is terminating for it on {name}"
                return f"{old.key} is preempted for {pod.key}, and {ends}"
    return ""


def running(name: str, cpu_m: int, node: str, **spec: Any) -> Pod:
    """A pod that runs on a node, and takes its time to end."""
    pod = Pod.of(name, cpu_m=cpu_m, grace_s=GRACE_S, node_name=node, **spec)
    return attrs.evolve(pod, status=PodStatus("Running", conditions=(Condition("Ready", "True"),)))


def second_victim(world: World, *, guard: bool = False) -> None:
    """A scheduler restarts in mid-preemption, and a second pod dies.

    An urgent pod needs the room of one of two nodes. It costs least to take web-1 from n1, which a
    budget allows. The scheduler deletes it and crashes before it has written the nomination. After
    the restart nothing says for which pod web-1 is terminating: it still takes its place, so the
    urgent pod fits nowhere and preempts once more. Now the budget is spent, so it counts as worse
    to take web-1, which is going anyhow, than to take the more important batch from n2. Both die
    for one.

    Guarded, the nomination is written before any victim goes (`nominate: before_victims`): the next
    life reads it, waits for web-1, and, if that was not deleted yet, makes room on that node.

    Cause: the scheduler deletes its victims before it writes the nomination, and a crash in between
      leaves nothing that says which pod the room is for.
    Look for: the crash after the delete of web-1; the next life goes by the budget.
    Source: the reviews of enhancements PR#4833 and enhancements PR#5932.
    Tags: restart, write-order, nomination, disruption-budget, silent.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("high", value=100), PriorityClass("some", value=10))
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.serve(partial(Runtime, node="n1"))
    world.start(Kubelet("kubelet-n1", "n1"))
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(LABELS))
    world.add(PodDisruptionBudget("web", spec=spec))
    world.add(running("web-1", 1000, "n1").with_meta(labels=LABELS))
    world.add(running("web-2", 400, "n2").with_meta(labels=LABELS))
    world.add(running("batch", 600, "n2", priority_class_name="some"))
    switches = Map(nominate="before_victims" if guard else "after_victims")
    world.start(Scheduler(SCHEDULER, switches=switches))
    world.start(DisruptionController(switches=Map(events="off")))
    urgent = Pod.of("urgent", cpu_m=600, priority_class_name="high", scheduler_name=SCHEDULER)
    world.start(User("ann", ((URGENT_MS, urgent),)))
    over = CrashOver(SCHEDULER, over="delete pods/*", is_served=True, restart_after_ms=DOWN_MS)
    world.allow(over)
    world.claim(always(nobody_goes_while_room_is_coming))
