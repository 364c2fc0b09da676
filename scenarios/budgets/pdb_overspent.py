"""A preemption and a drain each take the one disruption that a budget allows."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.scheduler import Scheduler
from actors.shared.user import User
from actors.users.drain import Drain, DrainOptions
from testbed import Evidence, Found, World, always
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
    PriorityClass,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec

SCHEDULER = "default-scheduler"
LABELS = Map(app="web")
FLOOR = 2
"""How many pods of the application are to be healthy."""
AT_MS = 1_000
"""When the urgent pod is created and the drain begins. A refused drain asks again after 5 s."""


def the_application_keeps_its_floor(see: Evidence) -> Found | None:
    """As many of its pods as the budget wants are ready and not about to go: here nothing ends a
    pod but those who should heed the budget."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    web = [pod for pod in pods if pod.meta.labels.get("app") == "web"]
    left = [pod.meta.name for pod in web if pod.is_ready and not pod.meta.is_terminating]
    if len(left) < FLOOR:
        text = f"web wants {FLOOR} healthy pods, and only {', '.join(left) or 'none'} is left"
        return Found(text, reason="missing")
    return None


def running(name: str, node: str, **spec: Any) -> Pod:
    """A pod that fills a node and is ready."""
    pod = Pod.of(name, cpu_m=1000, node_name=node, grace_s=0, **spec)
    return attrs.evolve(pod, status=PodStatus("Running", conditions=(Condition("Ready", "True"),)))


def pdb_overspent(world: World, *, guard: bool = False) -> None:
    """A preemption and a drain take a pod each of an application that can spare only one.

    Three pods of which two must stay. The node of one is drained; an urgent pod could go to the
    node of another. It could as well go to a fourth node, in place of a pod that no budget covers
    and that is a little more important.

    A preemption deletes its victim without asking, and debits no budget. Until the controller has
    counted again, and everybody has heard of that, the budget says that one more may go: to the
    eviction API, to the drain, and to the scheduler, which has asked the budget as it last heard of
    it (kubernetes#91492; kubernetes#82149 is another way to spend a disruption twice). Guarded, the
    scheduler evicts its victims by the eviction API, too: then the second of the two is refused.

    Cause: preemption asks the budget in the scheduler's cache and then deletes its victim by a
      plain DELETE, which no budget refuses and which debits none.
    Look for: the scheduler takes web-2 while it believes that one disruption is allowed; the drain
      has taken it for web-1.
    Source: kubernetes#91492; for another way, kubernetes#82149.
    Tags: stale-cache, check-then-act, disruption-budget.
    """
    world.serve(ApiServer)
    world.add(PriorityClass(Meta("urgent"), value=100), PriorityClass(Meta("some"), value=1))
    world.add(*(Node.of(f"n{number}", cpu_m=1000) for number in (1, 2, 3, 4)))
    for number in (1, 2, 3):
        world.add(running(f"web-{number}", f"n{number}").with_meta(labels=LABELS))
    world.add(running("batch", "n4", priority_class_name="some"))
    spec = PodDisruptionBudgetSpec(min_available=FLOOR, selector=LabelSelector(LABELS))
    status = PodDisruptionBudgetStatus(1, 3, FLOOR, 3)
    world.add(PodDisruptionBudget("web", spec=spec, status=status))
    switches = Map(
        victims_go_by="eviction" if guard else "delete",
        bug_disruption_status_from_preemptor="off",
    )
    urgent = Pod.of("urgent", cpu_m=1000, grace_s=0, priority_class_name="urgent")
    world.start(Scheduler(SCHEDULER, switches=switches))
    world.start(DisruptionController(switches=Map(events="off")))
    world.start(User("ann", ((AT_MS, urgent),)))
    world.start(Drain("drain", ("n1",), AT_MS, DrainOptions(force=True)))
    world.claim(always(the_application_keeps_its_floor, reads=("log:pods",)))
