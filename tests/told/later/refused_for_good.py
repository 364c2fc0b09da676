"""Refused for good: the note that a job runs is refused once; from then on its controller creates
the job again first, is told that it exists, and stops there (kubernetes/kubernetes PR#120649)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.errors import AlreadyExists
from testbed.objects import ConfigMap, Map, Note
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class CronJobs(Actor):
    """Creates the job (a Note) of a cron job (a ConfigMap), and notes there that it is active. With
    `guard` it takes AlreadyExists for a yes."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at a cron job when it changes; after a refusal again."""
        cronjobs, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(cronjobs)

        async def reconcile(name: str) -> None:
            found = cronjobs.get(name)
            if found is None or found.data["active"]:
                return
            try:
                await client.create(Note(f"{name}-1"))
            except AlreadyExists:
                if not self.guard:
                    raise
            active = found.data.having(active=f"{name}-1")
            await client.update(attrs.evolve(found, data=active))

        await queue.work(reconcile)


class Ann(Actor):
    """Suspends the cron job after its first run."""

    async def run(self, client: Client) -> None:
        """At once."""
        await client.patch(ConfigMap("backup"), {"data": {"suspend": "true"}})


def active_jobs_are_noted(see: Evidence) -> str | None:
    """In the end the cron job knows of its job."""
    found: Any = see.store.peek("configmaps/default/backup")
    if see.store.peek("notes/default/backup-1") and not found.value.data["active"]:
        return "backup runs, and its list of active jobs is empty"
    return None


def refused_for_good(world: World, *, guard: bool = False) -> None:
    """A cron job is edited between its two writes."""
    world.serve(ApiServer)
    world.add(ConfigMap("backup", data=Map(active="", suspend="false")))
    world.start(CronJobs("cronjobs", guard), Ann("ann"))
    world.claim(quiescent(active_jobs_are_noted))
    world.limit(until_ms=20_000)


TRUE = Told(
    refused_for_good,
    race="""
holds:
  - hold: ann patch configmaps/default/backup
    until: cronjobs create notes/default/backup-1
  - hold: cronjobs update configmaps/default/backup
    until: ann patch configmaps/default/backup
""",
    actor="cronjobs",
    about=("configmaps/default/backup", "notes/default/backup-1"),
    words=("refused", "Conflict", "AlreadyExists"),
    never=("^ann", "suspend"),
    said=(
        "cronjobs never noted notes/default/backup-1 in configmaps/default/backup: its update was "
        "refused, Conflict, and each try since ends at its create of the job, AlreadyExists."
    ),
)
