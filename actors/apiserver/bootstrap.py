"""Bootstrap: what an API server sees to when it starts: the classes that every cluster has."""

from __future__ import annotations

import attrs

from actors.apiserver.admission.priority import SYSTEM_CLASSES
from testbed import Actor, ApiError, Client, NotFound
from testbed.errors import AlreadyExists
from testbed.objects import PriorityClass

AGAIN_MS = 1000
"""How long it waits for an API server that does not answer."""


@attrs.frozen
class Bootstrap(Actor):
    """Makes each system class that is missing, once in each of its lives (PRI-4).

    It asks an API server as anybody does, so it may stand beside any of them; where a scenario
    lets it restart, what has gone missing is made again. Kubernetes gives up after 30 s, and ends
    the API server, which begins anew: here it just goes on.
    """

    async def run(self, client: Client) -> None:
        for item in SYSTEM_CLASSES:
            while not await self.is_there(client, item):
                await client.sleep(AGAIN_MS, f"again {item.meta.name}")

    async def is_there(self, client: Client, item: PriorityClass) -> bool:
        """Whether it is there by now, as far as this actor has been told."""
        try:
            await client.get(PriorityClass, item.meta.name)
        except NotFound:
            return await self.is_made(client, item)
        except ApiError:
            return False
        return True

    async def is_made(self, client: Client, item: PriorityClass) -> bool:
        """Whether it has been made, by this actor or by another one."""
        try:
            await client.create(item)
        except AlreadyExists:
            return True
        except ApiError:
            return False
        return True
