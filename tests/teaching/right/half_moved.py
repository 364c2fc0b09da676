"""Right answers to level 5: four ways to move each Note, and never to lose it."""

from __future__ import annotations

from scenarios.levels.half_moved import NoteMover
from testbed import ApiError, Client, Conflict, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Note


class CopiesThenDeletes(NoteMover):
    """Copies, then deletes what it has copied; begins again with the read whenever in doubt."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                except NotFound:
                    break
                except Unavailable:
                    continue
                try:
                    await self._copy(client, note)
                    await client.delete(note)
                except ApiError:
                    await client.sleep(100)

    async def _copy(self, client: Client, note: Note) -> None:
        try:
            await client.create(self.copy_of(note))
        except AlreadyExists:
            copy = await client.get(Note, note.meta.name, self.target)
            await client.update(copy.saying(**note.data))


class DoesTheNextStep(NoteMover):
    """Looks at both places, and does the one step that this state asks for."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while not await self._is_done(client, item):
                pass

    async def _is_done(self, client: Client, item: str) -> bool:
        try:
            copy = await self._find(client, item, self.target)
            note = await self._find(client, item, self.source)
            if note is None:
                return True
            if copy is None:
                await client.create(self.copy_of(note))
            elif copy.data != note.data:
                await client.update(copy.saying(**note.data))
            else:
                await client.delete(note)
        except (AlreadyExists, Conflict, NotFound, Unavailable):
            await client.sleep(100)
        return False

    async def _find(self, client: Client, item: str, namespace: str) -> Note | None:
        try:
            return await client.get(Note, item, namespace)
        except NotFound:
            return None


class GoesByOneList(NoteMover):
    """Lists all Notes: one picture of both places."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                listing = await client.list(Note)
                there = {(each.meta.namespace, each.meta.name): each for each in listing.items}
                left = [item for item in self.items if (self.source, item) in there]
                if not left:
                    return
                for item in left:
                    note, copy = there[self.source, item], there.get((self.target, item))
                    if copy is None:
                        await client.create(self.copy_of(note))
                    elif copy.data != note.data:
                        await client.update(copy.saying(**note.data))
                    else:
                        await client.delete(note)
            except ApiError:
                await client.sleep(500)


class CopiesAllFirst(NoteMover):
    """Copies all, then deletes all; what has changed in between is copied and deleted again."""

    async def run(self, client: Client) -> None:
        left = [*self.items]
        while left:
            copied = []
            for item in [*left]:
                try:
                    note = await client.get(Note, item, self.source)
                except NotFound:
                    left.remove(item)
                except Unavailable:
                    continue
                else:
                    copied += [note] if await self._has_copied(client, note) else []
            for note in copied:
                try:
                    await client.delete(note)
                except ApiError:
                    continue

    async def _has_copied(self, client: Client, note: Note) -> bool:
        try:
            copy = await client.get(Note, note.meta.name, self.target)
            await client.update(copy.saying(**note.data))
        except NotFound:
            try:
                await client.create(self.copy_of(note))
            except ApiError:
                return False
        except ApiError:
            return False
        return True
