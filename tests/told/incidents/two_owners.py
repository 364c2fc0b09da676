"""Two owners: one controller writes all of a Secret, another adds its fields to it, for ever
(external-secrets/external-secrets#5856)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, World, no_lasso
from testbed.objects import ConfigMap, Map
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told

FROM_VAULT = Map(user="tekton", password="vault")
REFRESH_MS = 10_000


@attrs.frozen
class ExternalSecrets(Actor):
    """Keeps the Secret as the vault has it: all of its data; with `guard` its own fields only."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Compare every ten seconds."""
        secrets = Cache(client, ConfigMap)
        await secrets.synced()
        while True:
            await client.sleep(REFRESH_MS, "refresh")
            found = secrets.get("pguser")
            if found is None:
                continue
            mine = found.data.having(**FROM_VAULT) if self.guard else FROM_VAULT
            if found.data != mine:
                await client.update(attrs.evolve(found, data=mine), whatever_it_was=True)


class Postgres(Actor):
    """Adds the address of the database."""

    async def run(self, client: Client) -> None:
        """When it is missing."""
        secrets, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(secrets)

        async def reconcile(name: str) -> None:
            found = secrets.get(name)
            if found is not None and "host" not in found.data:
                await client.patch(found, {"data": {"host": "db-0"}})

        await queue.work(reconcile)


def two_owners(world: World, *, guard: bool = False) -> None:
    """One takes away what the other adds."""
    world.serve(ApiServer)
    world.add(ConfigMap("pguser", data=FROM_VAULT))
    world.start(ExternalSecrets("external-secrets", guard), Postgres("pgo"))
    world.claim(no_lasso())


TRUE = Told(
    two_owners,
    actor=("external-secrets", "pgo"),
    about="configmaps/default/pguser",
    words=(r"data\.host", "host"),
    did=("undo", "each other", "again", "times"),
    said=(
        "external-secrets and pgo undo each other's writes of data.host of "
        "configmaps/default/pguser for ever: pgo adds it, and external-secrets removes it."
    ),
)
