"""Right answers to level 4: four ways to create each Job once."""

from __future__ import annotations

from scenarios.levels.asked_twice import Cron
from testbed import ApiError, Client, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Job, Map, Note


class NamesJobsByTime(Cron):
    """The name follows from the time, so that a second create is refused."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    await client.create(self.job(time, f"{self.job_name}-{time}"))
                    break
                except AlreadyExists:
                    break
                except Unavailable:
                    await client.sleep(1_000)


class WritesTheNameDownFirst(Cron):
    """Any name will do, if it is written down before the create, once for all."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            done = False
            while not done:
                try:
                    name = await self._name_for(client, time)
                    await client.create(self.job(time, name))
                    done = True
                except AlreadyExists:
                    done = True
                except Unavailable:
                    await client.sleep(500)

    async def _name_for(self, client: Client, time: str) -> str:
        mine = f"{self.job_name}-{client.name}-{client.life}-{time}"
        note = Note(f"name-of-{time}", data=Map(name=mine))
        try:
            await client.create(note)
        except AlreadyExists:
            note = await client.get(Note, f"name-of-{time}")
        return note.data["name"]


class LooksUntilAllAreThere(Cron):
    """Asks for each Job by its name, creates it if it is not there, and takes no error for an
    end."""

    async def run(self, client: Client) -> None:
        left = [*self.times]
        while left:
            name = f"{left[0]}-{self.job_name}"
            try:
                await client.get(Job, name)
                left.pop(0)
            except NotFound:
                try:
                    await client.create(self.job(left[0], name))
                except ApiError:
                    await client.sleep(200)
            except Unavailable:
                await client.sleep(200)


class OneTaskForEachTime(Cron):
    """A task for each time, each with one name for its Job."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            client.spawn(f"at-{time}", self._start, client, time)

    async def _start(self, client: Client, time: str) -> None:
        while True:
            try:
                await client.create(self.job(time, f"t{time}"))
            except AlreadyExists:
                return
            except Unavailable:
                continue
