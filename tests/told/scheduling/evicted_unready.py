"""Evicted unready: the API server takes a pod for ready, debits its budget, and deletes it when it
is ready no more (kubernetes/kubernetes#142201)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.verbs import evict
from testbed import Actor, ApiError, Client, Evidence, World, always
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from tests.told.frame import Told


@attrs.frozen
class Amy(Actor):
    """Evicts a pod, whatever it is like."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "evict")
        try:
            await evict(client, Pod("web-1"))
        except ApiError:
            return


class Probe(Actor):
    """Notices that the pod is not ready any more. It has failed for good by then, if it is gone."""

    async def run(self, client: Client) -> None:
        """After two seconds."""
        await client.sleep(2_000, "probe")
        failing = {"type": "Ready", "status": "False", "reason": "ProbeFailed"}
        tree = {"status": {"conditions": [failing]}}
        try:
            await client.patch(Pod("web-1"), tree, how="strategic", subresource="status")
        except ApiError:
            return


def a_budget_pays_for_ready_pods(see: Evidence) -> str | None:
    """A pod that its budget has paid for is ready when it goes."""
    budget: Any = see.store.peek("poddisruptionbudgets/default/web")
    for change in see.changes:
        pod, now = change.before, change.after
        is_going = now is None or (isinstance(now, Pod) and now.meta.is_terminating)
        if not is_going or not isinstance(pod, Pod) or pod.is_ready:
            continue
        if pod.meta.name in budget.value.status.disrupted_pods:
            return f"the budget web has paid for {pod.key}, which was not ready"
    return None


def evicted_unready(world: World) -> None:
    """A pod that gets unready between the look at its budget and the delete."""
    world.serve(ApiServer)
    for name in ("web-1", "web-2"):
        pod = Pod.of(name, cpu_m=100, node_name="n1", grace_s=30, labels={"app": "web"})
        ready = PodStatus("Running", conditions=(Condition("Ready", "True"),))
        world.add(attrs.evolve(pod, status=ready))
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(app="web")))
    status = PodDisruptionBudgetStatus(1, 2, 1, 2)
    world.add(PodDisruptionBudget("web", spec=spec, status=status))
    world.start(Amy("amy"), Probe("probe"))
    world.claim(always(a_budget_pays_for_ready_pods))


TRUE = Told(
    evicted_unready,
    race="""
holds:
  - hold: amy evict.2 pods/default/web-1
    until: probe patch pods/default/web-1/status
""",
    actor="amy",
    made_so="probe",
    about="pods/default/web-1",
    words=("Ready",),
    did=("server", r"\bapi\b", r"api-\d", "part"),
    never=("amy .* believing", "amy .*without ever having read", "amy .*and never saw"),
    said=(
        "amy's evict of pods/default/web-1 found it Ready, and the API server deleted it in a"
        " later part of that request, after probe had made it unready."
    ),
)
