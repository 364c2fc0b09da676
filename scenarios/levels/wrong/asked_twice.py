"""Wrong answers to level 4: each looks as if it created each Job once."""

from __future__ import annotations

import contextlib

from scenarios.levels.asked_twice import TIME, Cron
from testbed import ApiError, Cache, Client, NotFound, Selector, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Job, Note
from testbed.objects.labels import parse


def _of(time: str) -> Selector:
    """Which Jobs are of that time."""
    return Selector(labels=parse(f"{TIME}={time}"))


class TakesLossForDone(Cron):
    """Takes a create without an answer as done."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            with contextlib.suppress(Unavailable):
                await client.create(self.job(time))


class ListsAfterLoss(Cron):
    """Looks whether it has happened, and creates again only if it has not. It does not look before
    its first create, which an earlier life may have sent, too."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            lost = False
            while True:
                try:
                    if lost and (await client.list(Job, _of(time))).items:
                        break
                    await client.create(self.job(time))
                    break
                except Unavailable:
                    lost = True
                    await client.sleep(1_000)


class ListsBeforeCreate(Cron):
    """Looks before each create. What is under way, it does not see."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    if not (await client.list(Job, _of(time))).items:
                        await client.create(self.job(time))
                    break
                except Unavailable:
                    await client.sleep(1_000)


class LooksIntoItsCache(Cron):
    """Looks before each create, into its Cache: that is cheaper, and late."""

    async def run(self, client: Client) -> None:
        jobs = Cache(client, Job)
        await jobs.synced()
        for time in self.times:
            while True:
                try:
                    if not any(job.meta.labels[TIME] == time for job in jobs.all()):
                        await client.create(self.job(time))
                    break
                except Unavailable:
                    continue


class TriesTwiceAtMost(Cron):
    """Has the right name, and tries again only once: the second loss ends it."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            job = self.job(time, f"{self.job_name}-{time}")
            try:
                await client.create(job)
            except Unavailable:
                with contextlib.suppress(AlreadyExists):
                    await client.create(job)
            except AlreadyExists:
                pass


class DiesOfItsOwnJob(Cron):
    """Has the right name, and does not expect that its Job is there already."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    await client.create(self.job(time, f"{self.job_name}-{time}"))
                    break
                except Unavailable:
                    await client.sleep(1_000)


class TakesTheNextNumber(Cron):
    """If the name is taken, it takes the next."""

    async def run(self, client: Client) -> None:
        number = 0
        for time in self.times:
            while True:
                try:
                    await client.create(self.job(time, f"{self.job_name}-{number}"))
                    break
                except AlreadyExists:
                    number += 1
                except Unavailable:
                    await client.sleep(1_000)


class NumbersItsTries(Cron):
    """Gives each try a name of its own."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            tries = 0
            while True:
                tries += 1
                try:
                    await client.create(self.job(time, f"{self.job_name}-{time}-{tries}"))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class NamesJobsByClock(Cron):
    """Names a Job by when it was created, not by the time that it is for."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                name = f"{self.job_name}-{time}-{client.now()}"
                try:
                    await client.create(self.job(time, name))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class KeepsOneNameForALife(Cron):
    """Chooses the name once, and keeps it in memory: good until it crashes."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            name = f"{self.job_name}-{time}-{client.name}-{client.life}"
            while True:
                try:
                    await client.create(self.job(time, name))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class DeletesTheDouble(Cron):
    """Creates again, and deletes what is too much afterwards: both may have run."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    found = (await client.list(Job, _of(time))).items
                    if not found:
                        await client.create(self.job(time))
                        continue
                    for job in found[1:]:
                        await client.delete(job)
                    break
                except ApiError:
                    await client.sleep(1_000)


class DeletesWhatIsInDoubt(Cron):
    """If no answer came, it deletes the Job, if there is one, and creates it again."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            job, in_doubt = self.job(time, f"{self.job_name}-{time}"), False
            while True:
                try:
                    if in_doubt:
                        await client.delete(job, whatever_it_was=True)
                        in_doubt = False
                    await client.create(job)
                    break
                except NotFound:
                    in_doubt = False
                except AlreadyExists:
                    break
                except Unavailable:
                    in_doubt = True


class WritesItDownBefore(Cron):
    """Writes down that it starts the Job, then starts it: if it crashes in between, there is no
    Job."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    await client.create(Note(f"{self.job_name}-{time}-begun"))
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)
                else:
                    await self._create(client, time, f"{self.job_name}-{time}")
                    break

    async def _create(self, client: Client, time: str, name: str) -> None:
        while True:
            try:
                await client.create(self.job(time, name))
                return
            except AlreadyExists:
                return
            except Unavailable:
                await client.sleep(1_000)


class WritesItDownAfter(Cron):
    """Starts the Job, then writes down that it has. If it crashes in between, two Jobs."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    await client.get(Note, f"done-{time}")
                    break
                except NotFound:
                    pass
                except Unavailable:
                    continue
                try:
                    await client.create(self.job(time))
                    await client.create(Note(f"done-{time}"))
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class OneNameForAllTimes(Cron):
    """Gives all its Jobs one name, and takes that of another time for its own."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    await client.create(self.job(time, self.job_name))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class LooksUpItsName(Cron):
    """Asks whether the name is taken, and does not expect that it is taken just then."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            name = f"{self.job_name}-{time}"
            while True:
                try:
                    await client.get(Job, name)
                    break
                except NotFound:
                    try:
                        await client.create(self.job(time, name))
                    except Unavailable:
                        continue
                except Unavailable:
                    continue


class KnowsTheTimes(Cron):
    """Knows the World by heart."""

    async def run(self, client: Client) -> None:
        for time in ("0900", "2100")[: len(self.times)]:
            while True:
                try:
                    await client.create(self.job(time, f"report-{time}"))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)
