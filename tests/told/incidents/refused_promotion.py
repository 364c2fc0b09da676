"""Refused promotion: a controller goes by an old name of a cluster and leaves out the nomination; a
webhook then refuses the promotion for ever (kubernetes-sigs/kueue#11062)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs

from testbed import (
    Actor,
    ApiError,
    Cache,
    Client,
    Conflict,
    Evidence,
    Operation,
    StoreEndpoint,
    World,
    quiescent,
)
from testbed.errors import Forbidden
from testbed.objects import Note
from tests.told.frame import Told


class Webhooked(StoreEndpoint):
    """Refuses to promote a workload to a cluster that was not nominated."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        """As the Store does, but for that."""
        body: Any = operation.body
        if operation.verb == "update" and isinstance(body, Note):
            cluster = body.data.get("cluster", "")
            if cluster and cluster not in body.data.get("nominated", ""):
                raise Forbidden(f"clusterName {cluster} is not among the nominated clusters")
        return (yield from super().handle(operation, caller, now_ms))


@attrs.frozen
class Multikueue(Actor):
    """Nominates a cluster for a workload that has none, and promotes the workload to it. With
    `guard` it reads the workload again before it decides that it is nominated."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Nominate once, and promote until it is done."""
        workloads = Cache(client, Note)
        await workloads.synced()
        await client.sleep(2_000, "reconcile")
        known = workloads.get("job")
        assert known is not None
        while True:
            try:
                now = await client.get(Note, "job")
                if not (now if self.guard else known).data["cluster"]:
                    now = await client.update(now.saying(nominated="east"))
                await client.update(now.saying(cluster="east"))
                return
            except ApiError:
                await client.sleep(5_000, "back off")


class Ann(Actor):
    """Takes the workload back from the cluster that it was on."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "take back")
        found = await client.get(Note, "job")
        if found.data["cluster"] == "west":
            with suppress(Conflict):
                await client.update(found.saying(cluster="", nominated=""))


def the_job_is_promoted(see: Evidence) -> str | None:
    """In the end the workload is on a cluster."""
    job: Any = see.store.peek("notes/default/job")
    return "notes/default/job is on no cluster" if not job.value.data["cluster"] else None


def refused_promotion(world: World, *, guard: bool = False) -> None:
    """The informer still shows the cluster that a workload was on."""
    world.serve(Webhooked)
    world.add(Note("job").saying(cluster="west", nominated="west"))
    world.start(Multikueue("multikueue", guard), Ann("ann"))
    world.claim(quiescent(the_job_is_promoted))


TRUE = Told(
    refused_promotion,
    race="""
holds:
  - hold: delivery of notes/default/job to multikueue
    until: quiet
""",
    actor="multikueue",
    about="notes/default/job",
    words=("cluster", "west"),
    did=("refused", "Forbidden", "never nominated", "did not nominate", "nominated"),
    never=("^ann",),
    said=(
        "multikueue left notes/default/job without a nomination, believing that its "
        "data.cluster was west; false since ann took it back; so each promotion is refused, "
        "Forbidden."
    ),
)
