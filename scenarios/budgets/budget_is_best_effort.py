"""A budget allows no disruption, and the scheduler preempts a pod of it all the same."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import (
    LabelSelector,
    Map,
    Node,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PriorityClass,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec

CREATE_MS = 1_000
STAGES: tuple[dict[str, str], ...] = (
    {"pods/default/x": "n1", "pods/default/y": "n2"},
    {"pods/default/y": "n2"},
    {"pods/default/urgent": "n1", "pods/default/y": "n2"},
)
"""Which pods are bound, and where: at first, when there is room, and in the end."""


def x_goes_against_its_budget(see: Evidence) -> str | None:
    """The urgent pod preempts the less important one of two pods whose budgets allow nothing. After
    a fault it may not have come as far as that, or never will."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    on = {pod.key: pod.spec.node_name for pod in pods}
    bound = {key: node for key, node in on.items() if node}
    if bound in (STAGES if see.faults else STAGES[-1:]):
        return None
    return ", ".join(f"{key} is on {node or 'no node'}" for key, node in on.items())


def budget_is_best_effort(world: World) -> None:
    """Two pods may not be disrupted, as their budgets say, and one of them is preempted.

    X (priority 5) fills n1, and y (50) n2; each has a budget that allows no disruption. Urgent
    (100) fits nowhere. If one of the budgets allowed one, the scheduler would take that pod, also
    if it is the more important one. As neither does, it breaks one, and takes the less important
    pod. It deletes its victims, and does not evict them, so no server asks the budget.

    Cause: for preemption a budget is a preference, and for the eviction API a rule.
    Look for: the reason for n1.
    Source: the docs page "Pod Priority and Preemption", the design "Pod Preemption in Kubernetes".
    Tags: disruption-budget, priority, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("urgent", value=100))
    for name, node, value in (("x", "n1", 5), ("y", "n2", 50)):
        world.add(PriorityClass(f"of-{name}", value=value), Node.of(node, cpu_m=1000))
        spec: dict[str, Any] = {
            "node_name": node,
            "grace_s": 0,
            "priority_class_name": f"of-{name}",
        }
        world.add(Pod.of(name, cpu_m=1000, labels={"app": name}, **spec))
        budget = PodDisruptionBudgetSpec(1, selector=LabelSelector(Map(app=name)))
        status = PodDisruptionBudgetStatus(0, 1, 1, 1)
        world.add(PodDisruptionBudget(name, spec=budget, status=status))
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="urgent")
    world.start(Scheduler("default-scheduler"), User("ann", ((CREATE_MS, urgent),)))
    world.claim(quiescent(x_goes_against_its_budget, reads=()))
