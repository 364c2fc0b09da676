"""Bootstrap: creates the PriorityClasses that every cluster has, as an API server does at start."""

from __future__ import annotations

import attrs

from actors.apiserver.admission.priority import SYSTEM_CLASSES
from testbed import Actor, ApiError, Client, NotFound
from testbed.errors import AlreadyExists
from testbed.objects import PriorityClass

AGAIN_MS = 1000
"""How long it waits before it asks again."""


@attrs.frozen
class Bootstrap(Actor):
    """Creates each system class that is missing, once in each of its lives (PRI-4).

    It is a client like any other, so it may stand beside any API server. If a scenario lets it
    restart, it creates again what is missing by then. Kubernetes gives up after 30 s and ends the
    API server, which starts again; this one goes on trying.
    """

    async def run(self, client: Client) -> None:
        for item in SYSTEM_CLASSES:
            while not await self.is_there(client, item):
                await client.sleep(AGAIN_MS, f"again {item.meta.name}")

    async def is_there(self, client: Client, item: PriorityClass) -> bool:
        """Whether the class exists by now; if it does not, it is created."""
        try:
            await client.get(PriorityClass, item.meta.name)
        except NotFound:
            return await self.is_made(client, item)
        except ApiError:
            return False
        return True

    async def is_made(self, client: Client, item: PriorityClass) -> bool:
        """Whether the class was created, by this actor or by another one."""
        try:
            await client.create(item)
        except AlreadyExists:
            return True
        except ApiError:
            return False
        return True
