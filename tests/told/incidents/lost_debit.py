"""Lost debit: the controller of budgets is refused, since an eviction has just debited the budget,
and writes its old count all the same (kubernetes/kubernetes#82149)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.shared.verbs import evict
from testbed import Actor, ApiError, Client, Evidence, World, always
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Meta,
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

LABELS, FLOOR = Map(app="web"), 2
OWNER = Owner("apps/v1", "ReplicaSet", "web", "web", True)


@attrs.frozen
class Evictor(Actor):
    """Evicts one pod, by the eviction API."""

    pod: str
    at_ms: int

    async def run(self, client: Client) -> None:
        """Once; a refusal is taken for a no."""
        await client.sleep(self.at_ms, "evict")
        try:
            await evict(client, Pod(self.pod))
        except ApiError:
            return


class Probe(Actor):
    """Finds the fourth pod ready."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "probe")
        tree = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        await client.patch(Pod("web-4"), tree, how="strategic", subresource="status")


def the_floor_is_kept(see: Evidence) -> str | None:
    """Two pods are there at any time."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = [pod for pod in pods if not pod.meta.is_terminating]
    return f"web wants {FLOOR} pods, and {len(there)} is left" if len(there) < FLOOR else None


def lost_debit(world: World, *, guard: bool = False) -> None:
    """Three pods are evicted where the budget allows two; guarded, a refusal is minded."""
    world.serve(ApiServer)
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100).spec)
    selector = LabelSelector(LABELS)
    spec = ReplicaSetSpec(4, selector=selector, template=template)
    world.add(ReplicaSet(Meta("web", "default", uid=OWNER.uid), spec=spec))
    ready = PodStatus("Running", conditions=(Condition("Ready", "True"),))
    for number in (1, 2, 3, 4):
        pod = Pod.of(f"web-{number}", cpu_m=100, node_name="n1", grace_s=0, labels=LABELS)
        status = ready if number < 4 else PodStatus("Running")
        world.add(attrs.evolve(pod, status=status).with_meta(owners=(OWNER,)))
    budget = PodDisruptionBudgetSpec(min_available=FLOOR, selector=selector)
    world.add(PodDisruptionBudget("web", spec=budget))
    bug = {"bug_conflict_writes_old_status": "off" if guard else "on", "events": "off"}
    world.start(DisruptionController(switches=Map(bug)))
    world.start(Probe("probe"), Evictor("amy", "web-1", 3_000))
    world.start(Evictor("bob", "web-2", 4_000), Evictor("carl", "web-3", 4_000))
    world.latency("watch pods", deliver_ms=2_000)
    world.claim(always(the_floor_is_kept))


TRUE = Told(
    lost_debit,
    race="""
holds:
  - hold: disruption-controller update poddisruptionbudgets/default/web/status#2
    until: amy evict.2 pods/default/web-1
""",
    actor="disruption-controller",
    about="poddisruptionbudgets/default/web",
    words=("Conflict", "refused", "old", "bug_conflict", "allowed", "believing"),
    never=("^amy", "^bob", "^carl", "probe patched .* and that broke it"),
    said=(
        "disruption-controller wrote its old count over the debit for amy's eviction into "
        "poddisruptionbudgets/default/web: its update was refused, Conflict, and it repeated "
        "that as it was; so bob's eviction was allowed."
    ),
)
