"""Wrong answers to level 3: each looks as if it created no pod too many."""

from __future__ import annotations

import contextlib

from scenarios.levels.late_echo import Controller
from testbed import ApiError, Cache, Client, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Pod
from testbed.turns.waits import Queue


def _caches(client: Client) -> tuple[Cache[Pod], Queue]:
    """A Cache of all pods, and a queue with its news."""
    news, pods = client.queue("news", idle=True), Cache(client, Pod)
    pods.on(add=news.put, delete=news.put)
    return pods, news


class SleepsAfterCreate(Controller):
    """Gives the news a second to come. The news may need longer."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            for _ in range(self.want - len(pods.all())):
                with contextlib.suppress(Unavailable):
                    await client.create(self.pod())
            await client.sleep(1_000)
            if len(pods.all()) >= self.want:
                await news.get()


class OneAtATime(Controller):
    """Creates one pod, then waits for news: that may be the news of another pod, and it is lost."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            if len(pods.all()) < self.want:
                try:
                    await client.create(self.pod())
                except Unavailable:
                    continue
            await news.get()


class ListsFirst(Controller):
    """Asks the API server how many there are, before each create. What an earlier life has asked
    for may be under way."""

    async def run(self, client: Client) -> None:
        _, news = _caches(client)
        while True:
            try:
                listing = await client.list(Pod)
                if len(listing.items) < self.want:
                    await client.create(self.pod())
                    continue
            except Unavailable:
                await client.sleep(1_000)
                continue
            await news.get()


class ExpectsItsCreates(Controller):
    """Counts what it has created and not heard of, as Kubernetes does; in memory, which a crash
    takes."""

    async def run(self, client: Client) -> None:
        expected, heard = set[str](), set[str]()
        pods, news = _caches(client)
        pods.on(add=lambda pod: heard.add(pod.meta.name))
        await pods.synced()
        while True:
            expected -= heard
            while len(pods.all()) + len(expected) < self.want:
                try:
                    name = (await client.create(self.pod())).meta.name
                except Unavailable:
                    await client.sleep(20_000)
                    continue
                if name not in heard:
                    expected.add(name)
            await news.get()


class WaitsForItsEcho(Controller):
    """Waits until its Cache shows the new pod, but not for ever."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            while len(pods.all()) < self.want:
                try:
                    name = (await client.create(self.pod())).meta.name
                except Unavailable:
                    await client.sleep(5_000)
                    continue
                for _ in range(50):
                    if pods.get(name) is not None:
                        break
                    await client.sleep(100)
            await news.get()


class DeletesTheSurplus(Controller):
    """Puts right what was too much: for a while there were too many."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            try:
                there = pods.all()
                for pod in there[self.want :]:
                    await client.delete(pod, whatever_it_was=True)
                for _ in range(self.want - len(there)):
                    await client.create(self.pod())
            except ApiError:
                await client.sleep(1_000)
                continue
            await news.get()


class NumbersByCount(Controller):
    """Names the next pod by how many there are: if web-0 was deleted, it asks for web-1 for
    ever."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            try:
                for number in range(len(pods.all()), self.want):
                    await client.create(self.pod(f"{self.app}-{number}"))
            except AlreadyExists:
                pass
            except Unavailable:
                await client.sleep(1_000)
                continue
            await news.get()


class TakesTheNextName(Controller):
    """If a name is taken, it takes the next number."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            number = 0
            for _ in range(self.want - len(pods.all())):
                with contextlib.suppress(AlreadyExists, Unavailable):
                    await client.create(self.pod(f"{self.app}-{number}"))
                number += 1
            if len(pods.all()) < self.want:
                with contextlib.suppress(ApiError):
                    await client.create(self.pod(f"{self.app}-{number}"))
            await news.get()


class NamesByLife(Controller):
    """Gives each life names of its own, so that none is taken: so nothing stops the second one."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        made = 0
        while True:
            while len(pods.all()) < self.want:
                try:
                    await client.create(self.pod(f"{self.app}-{client.life}-{made}"))
                except Unavailable:
                    await client.sleep(1_000)
                    continue
                except AlreadyExists:
                    pass
                made = (made + 1) % self.want
                await news.get()
            await news.get()


class NamesByTime(Controller):
    """Puts the time into the names, so that none is taken."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            now_ms = client.now()
            try:
                for place in range(self.want - len(pods.all())):
                    await client.create(self.pod(f"{self.app}-{now_ms}-{place}"))
            except AlreadyExists:
                pass
            except Unavailable:
                await client.sleep(1_000)
                continue
            await news.get()


class DiesOfTakenName(Controller):
    """Names its pods by number, and does not expect that one is there already."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            try:
                for place in range(self.want):
                    name = f"{self.app}-{place}"
                    if pods.get(name) is None:
                        await client.create(self.pod(name))
            except Unavailable:
                await client.sleep(1_000)
                continue
            await news.get()


class DiesOfLostAnswer(Controller):
    """Does not expect that an answer may be lost."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            for place in range(self.want):
                name = f"{self.app}-{place}"
                if pods.get(name) is None:
                    with contextlib.suppress(AlreadyExists):
                        await client.create(self.pod(name))
            await news.get()


class TakesNoAnswerForYes(Controller):
    """Takes a create without an answer as done, and waits for its news."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            for place in range(self.want):
                name = f"{self.app}-{place}"
                if pods.get(name) is None:
                    with contextlib.suppress(AlreadyExists, Unavailable):
                        await client.create(self.pod(name))
            await news.get()


class CreatesOnceOnly(Controller):
    """Creates its pods at the start, and never looks again."""

    async def run(self, client: Client) -> None:
        for place in range(self.want):
            while True:
                try:
                    await client.create(self.pod(f"{self.app}-{place}"))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class HearsOnlyDeletes(Controller):
    """Replaces a pod when it hears that it was deleted. What is deleted before its Cache has listed
    it never hears of."""

    async def run(self, client: Client) -> None:
        gone = client.queue("gone", idle=True)
        Cache(client, Pod).on(delete=lambda pod: gone.put(pod.meta.name))
        for place in range(self.want):
            gone.put(f"{self.app}-{place}")
        while True:
            name = await gone.get()
            try:
                await client.create(self.pod(name))
            except AlreadyExists:
                pass
            except Unavailable:
                gone.put(name)
                await client.sleep(1_000)


class WaitsOutItsPast(Controller):
    """Waits five seconds at the start, so that an earlier life is over; its last create may take
    longer."""

    async def run(self, client: Client) -> None:
        await client.sleep(5_000)
        _, news = _caches(client)
        while True:
            try:
                listing = await client.list(Pod)
                if len(listing.items) < self.want:
                    await client.create(self.pod())
                    continue
            except Unavailable:
                await client.sleep(1_000)
                continue
            await news.get()


class KnowsTheApp(Controller):
    """Knows the World by heart: two pods, web-0 and web-1."""

    async def run(self, client: Client) -> None:
        pods, news = _caches(client)
        await pods.synced()
        while True:
            try:
                for name in ("web-0", "web-1"):
                    if pods.get(name) is None:
                        await client.create(self.pod(name))
            except AlreadyExists:
                pass
            except Unavailable:
                await client.sleep(1_000)
                continue
            await news.get()
