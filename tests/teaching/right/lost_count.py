"""Right answers to level 1: four ways to count every delivery."""

from __future__ import annotations

from scenarios.levels.lost_count import Clerk
from testbed import Client, Conflict, Unavailable
from testbed.errors import AlreadyExists, NotFound
from testbed.objects import Note


def _one_more(note: Note, units: int = 1) -> Note:
    return note.saying(count=str(int(note.data["count"]) + units))


class ReadsAgain(Clerk):
    """Reads again after each refusal."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(Note, self.stock)
                    await client.update(_one_more(note))
                    break
                except (Conflict, Unavailable):
                    continue


class GoesOnFromItsOwnWrite(Clerk):
    """Reads only when it must: the answer of an update is the note as it is then."""

    async def run(self, client: Client) -> None:
        note: Note | None = None
        left = self.deliveries
        while left:
            try:
                if note is None:
                    note = await client.get(Note, self.stock)
                note = await client.update(_one_more(note))
                left -= 1
            except Conflict:
                note = None
            except Unavailable:
                await client.sleep(500)


class TakesALock(Clerk):
    """Writes blindly, but only while it has a lock: one Note that only one clerk can create."""

    async def run(self, client: Client) -> None:
        lock = await self._take(client)
        counted = 0
        while counted < self.deliveries:
            try:
                note = await client.get(Note, self.stock)
                await client.update(_one_more(note), whatever_it_was=True)
                counted += 1
            except Unavailable:
                continue
        while True:
            try:
                return await client.delete(lock)
            except NotFound:
                return None
            except Unavailable:
                continue

    async def _take(self, client: Client) -> Note:
        while True:
            try:
                return await client.create(Note(f"lock-of-{self.stock}"))
            except (AlreadyExists, Unavailable):
                await client.sleep(100)


class CountsAllAtOnce(Clerk):
    """Adds all its deliveries in one update."""

    async def run(self, client: Client) -> None:
        while self.deliveries:
            try:
                note = await client.get(Note, self.stock)
                await client.update(_one_more(note, self.deliveries))
            except (Conflict, Unavailable):
                await client.sleep(10)
            else:
                return
