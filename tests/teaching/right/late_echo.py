"""Right answers to level 3: three ways to create each pod once."""

from __future__ import annotations

import contextlib

from scenarios.levels.late_echo import Controller
from testbed import ApiError, Cache, Client, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Pod
from testbed.turns.waits import Queue


class NamesItsPods(Controller):
    """Each place has a name; what its Cache lacks it creates, and a taken name is no error."""

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod)
        pods.on(add=news.put, delete=news.put)
        await pods.synced()
        while True:
            try:
                for place in range(self.want):
                    name = f"{self.app}-{place}"
                    if pods.get(name) is None:
                        await self._create(client, name)
            except Unavailable:
                await client.sleep(1_000)
            else:
                await news.get()

    async def _create(self, client: Client, name: str) -> None:
        with contextlib.suppress(AlreadyExists):
            await client.create(self.pod(name))


class AsksTheServer(Controller):
    """Has no Cache: asks for each pod by its name every few seconds."""

    async def run(self, client: Client) -> None:
        names = [f"{self.app}-{place}" for place in range(self.want)]
        while True:
            for name in names:
                try:
                    await client.get(Pod, name)
                except NotFound:
                    with contextlib.suppress(ApiError):
                        await client.create(self.pod(name))
                except Unavailable:
                    pass
            await client.sleep(10_000)


class OneTaskForEachPlace(Controller):
    """A task for each place creates its pod, and again each time that the pod was deleted."""

    async def run(self, client: Client) -> None:
        names = [f"{self.app}-{place}" for place in range(self.want)]
        gone = {name: client.queue(f"gone-{name}", idle=True) for name in names}
        pods = Cache(client, Pod)
        pods.on(delete=lambda pod: gone[pod.meta.name].put(pod))
        await pods.synced()
        for name in names:
            if pods.get(name) is None:
                gone[name].put(None)
            client.spawn(f"keep-{name}", self._keep, client, name, gone[name])

    async def _keep(self, client: Client, name: str, gone: Queue) -> None:
        while True:
            await gone.get()
            while True:
                try:
                    await client.create(self.pod(name))
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(500)
                else:
                    break
