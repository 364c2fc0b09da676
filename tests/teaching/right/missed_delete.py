"""Right answers to level 2: four ways to look at what is there."""

from __future__ import annotations

from scenarios.levels.missed_delete import Keeper
from testbed import ApiError, Cache, Client, Expired, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Pod
from testbed.objects.meta import Revision


class ListsAgain(Keeper):
    """Lists and creates what is missing whenever a watch ends, and then watches from there."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                listing = await client.list(Pod)
                there = [pod.meta.name for pod in listing.items]
                for name in self.names:
                    if name not in there:
                        await client.create(self.pod(name))
                watch = await client.watch(Pod, listing.revision)
                while True:
                    news = await watch.next()
                    if news.type == "DELETED":
                        await client.create(self.same_pod(news))
            except (AlreadyExists, Expired, Unavailable):
                continue


class TakesNewsAsAReason(Keeper):
    """Looks at everything after each piece of news; the news itself says nothing."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                revision = await self._look(client)
                watch = await client.watch(Pod, revision)
                news = await watch.next()
                while news.type != "DELETED":
                    news = await watch.next()
                watch.close()
            except ApiError:
                await client.sleep(500)

    async def _look(self, client: Client) -> Revision:
        listing = await client.list(Pod)
        there = {pod.meta.name for pod in listing.items}
        for name in sorted({*self.names} - there):
            await client.create(self.pod(name))
        return listing.revision


class LooksEveryTenSeconds(Keeper):
    """Needs no news at all: it looks now and then."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                there = [pod.meta.name for pod in (await client.list(Pod)).items]
                for name in self.names:
                    if name not in there:
                        await client.create(self.pod(name))
            except ApiError:
                pass
            await client.sleep(10_000)


class AsksItsCache(Keeper):
    """Lets a Cache list and watch, and compares with it after each change."""

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod)
        pods.on(add=news.put, delete=news.put)
        await pods.synced()
        while True:
            for name in self.names:
                if pods.get(name) is None:
                    try:
                        await client.create(self.pod(name))
                    except ApiError:
                        continue
            await news.get()
