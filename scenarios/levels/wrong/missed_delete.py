"""Wrong answers to level 2: each keeps its pods as long as it hears everything."""

from __future__ import annotations

from scenarios.levels.missed_delete import Keeper
from testbed import ApiError, Client, Expired, Unavailable
from testbed.errors import AlreadyExists, WatchBroken
from testbed.objects import Pod
from testbed.objects.meta import Revision
from testbed.store.delivery import Delivery


async def _create_missing(keeper: Keeper, client: Client) -> Revision:
    """List, create what is missing, and return the revision of the list."""
    listing = await client.list(Pod)
    there = [pod.meta.name for pod in listing.items]
    for name in keeper.names:
        if name not in there:
            await client.create(keeper.pod(name))
    return listing.revision


async def _create_deleted(keeper: Keeper, client: Client, news: Delivery) -> None:
    """Create again what that news says is gone."""
    if news.type == "DELETED":
        await client.create(keeper.same_pod(news))


class SkipsToNow(Keeper):
    """After each break it lists, takes the revision, and does not look at the items."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (Expired, Unavailable):
                since = (await client.list(Pod)).revision


class LooksOnlyWhenExpired(Keeper):
    """Looks again after Expired, but after a break it takes the revision of a list."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    await _create_deleted(self, client, await watch.next())
            except Expired:
                since = await _create_missing(self, client)
            except Unavailable:
                since = (await client.list(Pod)).revision


class LooksOnlyAfterABreak(Keeper):
    """Looks again after a break, but skips what has expired."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    news = await watch.next()
                    since = news.revision
                    await _create_deleted(self, client, news)
            except Expired:
                since = (await client.list(Pod)).revision


class DiesOfExpiry(Keeper):
    """Resumes after a break, and does not know that a history can be forgotten."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    news = await watch.next()
                    since = news.revision
                    await _create_deleted(self, client, news)
            except Unavailable:
                continue


class DiesOfABreak(Keeper):
    """Takes a watch for something that lasts."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        watch = await client.watch(Pod, since)
        while True:
            await _create_deleted(self, client, await watch.next())


class StopsAtABreak(Keeper):
    """Takes the end of a watch for the end of its work."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        try:
            watch = await client.watch(Pod, since)
            while True:
                await _create_deleted(self, client, await watch.next())
        except (Expired, Unavailable):
            return


class ResumesFromTheStart(Keeper):
    """Watches from its first list again and again, also when that is long forgotten."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (AlreadyExists, Expired, Unavailable):
                await client.sleep(5_000)


class LooksOnceOnly(Keeper):
    """Creates what is missing when it starts, and never looks again."""

    async def run(self, client: Client) -> None:
        await _create_missing(self, client)


class NeverLooks(Keeper):
    """Hears of every delete from now on; what was missing before it started stays so."""

    async def run(self, client: Client) -> None:
        while True:
            since = (await client.list(Pod)).revision
            try:
                watch = await client.watch(Pod, since)
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (Expired, Unavailable):
                continue


class LeavesAGap(Keeper):
    """Lists twice: what goes between the look and the second list is in neither."""

    async def run(self, client: Client) -> None:
        while True:
            await _create_missing(self, client)
            since = (await client.list(Pod)).revision
            try:
                watch = await client.watch(Pod, since)
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (Expired, Unavailable):
                continue


class ResumesBehindItsCreate(Keeper):
    """Resumes from its own create, which may be newer than news that it has not read."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    news = await watch.next()
                    since = news.revision
                    if news.type == "DELETED":
                        made = await client.create(self.same_pod(news))
                        since = made.meta.revision
            except Unavailable:
                continue
            except Expired:
                since = await _create_missing(self, client)


class HearsOneDelete(Keeper):
    """Looks again after each delete, but from then on is deaf for what came meanwhile."""

    async def run(self, client: Client) -> None:
        since = await _create_missing(self, client)
        while True:
            try:
                watch = await client.watch(Pod, since)
                news = await watch.next()
                await _create_deleted(self, client, news)
                since = (await client.list(Pod)).revision
            except (Expired, Unavailable):
                since = await _create_missing(self, client)


class LooksEverySecond(Keeper):
    """Is never wrong for long, and asks all the time."""

    async def run(self, client: Client) -> None:
        while True:
            await _create_missing(self, client)
            await client.sleep(1_000)


class LooksEveryTwoMinutes(Keeper):
    """Looks, but far too seldom."""

    async def run(self, client: Client) -> None:
        while True:
            await _create_missing(self, client)
            await client.sleep(120_000)


class WaitsLongAfterABreak(Keeper):
    """Backs off for more than a minute before it looks again."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                watch = await client.watch(Pod, await _create_missing(self, client))
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (Expired, Unavailable):
                await client.sleep(90_000)


class CountsInsteadOfLooking(Keeper):
    """Remembers how many there are, from the news it has heard."""

    async def run(self, client: Client) -> None:
        have, since = len(self.names), (await client.list(Pod)).revision
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    news = await watch.next()
                    since = news.revision
                    have += {"ADDED": 1, "DELETED": -1}.get(news.type, 0)
                    if have < len(self.names):
                        await client.create(self.same_pod(news))
            except WatchBroken:
                continue
            except Expired:
                since, have = (await client.list(Pod)).revision, len(self.names)


class KnowsThreeNames(Keeper):
    """Looks at what is there, for the three pods that it has always seen."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                listing = await client.list(Pod)
                there = [pod.meta.name for pod in listing.items]
                for name in ("web-1", "web-2", "web-3"):
                    if name not in there:
                        await client.create(self.pod(name))
                watch = await client.watch(Pod, listing.revision)
                while (await watch.next()).type != "DELETED":
                    continue
            except ApiError:
                await client.sleep(100)


class TrustsItsStart(Keeper):
    """Looks after each break and after Expired, and takes for granted that all is well at first."""

    async def run(self, client: Client) -> None:
        since = (await client.list(Pod)).revision
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (Expired, Unavailable):
                since = await _create_missing(self, client)


class TriesThreeTimes(Keeper):
    """Does all of it right, and gives up when it has failed three times."""

    async def run(self, client: Client) -> None:
        for _ in range(3):
            try:
                watch = await client.watch(Pod, await _create_missing(self, client))
                while True:
                    await _create_deleted(self, client, await watch.next())
            except (AlreadyExists, Expired, Unavailable):
                continue
