"""Wrong answers to level 5: each looks as if it lost no Note."""

from __future__ import annotations

import contextlib

from scenarios.levels.half_moved import NoteMover
from testbed import ApiError, Client, Conflict, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Map, Meta, Note


class DeletesAndTriesAgain(NoteMover):
    """Tries each step until it is done; but the first step takes the Note away."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            note: Note | None = None
            while True:
                try:
                    if note is None:
                        note = await client.get(Note, item, self.source)
                        await client.delete(note)
                    await client.create(self.copy_of(note))
                    break
                except (AlreadyExists, NotFound):
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class KeepsABackup(NoteMover):
    """Writes a backup first, so that nothing is lost; but for a while only the backup is there."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    await self._move(client, item)
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)

    async def _move(self, client: Client, item: str) -> None:
        backup = f"backup-of-{item}"
        try:
            note = await client.get(Note, item, self.source)
            with contextlib.suppress(AlreadyExists):
                await client.create(Note(Meta(backup, self.source), note.data))
            await client.delete(note)
        except NotFound:
            pass
        try:
            kept = await client.get(Note, backup, self.source)
            with contextlib.suppress(AlreadyExists):
                await client.create(Note(Meta(item, self.target), kept.data))
            await client.delete(kept)
        except NotFound:
            pass


class KeepsItInFinally(NoteMover):
    """Creates the copy in a `finally`, which is to run in any case. After a crash nothing runs."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            try:
                note = await client.get(Note, item, self.source)
            except NotFound:
                continue
            try:
                await client.delete(note)
            finally:
                await client.create(self.copy_of(note))


class MovesAllAtOnce(NoteMover):
    """Creates the copy and deletes the original in two tasks: there is no order between them."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                except NotFound:
                    break
                except Unavailable:
                    continue
                client.spawn(f"delete-{item}", self._delete, client, note)
                client.spawn(f"create-{item}", self._create, client, note)
                break

    async def _create(self, client: Client, note: Note) -> None:
        while True:
            try:
                await client.create(self.copy_of(note))
            except AlreadyExists:
                return
            except Unavailable:
                continue

    async def _delete(self, client: Client, note: Note) -> None:
        while True:
            try:
                await client.delete(note)
            except (Conflict, NotFound):
                return
            except Unavailable:
                continue


class DiesOfItsCopy(NoteMover):
    """Has the right order, and does not expect that the last life has copied already."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    await client.create(self.copy_of(note))
                    await client.delete(note)
                    break
                except NotFound:
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class TakesACopyForAll(NoteMover):
    """Takes a copy that is there for a move that is done; the original stays."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    await client.create(self.copy_of(note))
                    await client.delete(note)
                    break
                except (AlreadyExists, NotFound):
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class DiesOfTheGoneOriginal(NoteMover):
    """Does not expect that the last life had done all."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    with contextlib.suppress(AlreadyExists):
                        await client.create(self.copy_of(note))
                    await client.delete(note)
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class DeletesWithoutAnAnswer(NoteMover):
    """Tries the create once; whatever comes of it, it goes on to the delete."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    with contextlib.suppress(ApiError):
                        await client.create(self.copy_of(note))
                    await client.delete(note)
                    break
                except NotFound:
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class LeavesTheOriginal(NoteMover):
    """Tries the delete once: if that is lost, there are two."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    await client.create(self.copy_of(note))
                    break
                except (AlreadyExists, NotFound):
                    break
                except Unavailable:
                    continue
            try:
                await client.delete(await client.get(Note, item, self.source))
            except ApiError:
                continue


class UndoesItsCopy(NoteMover):
    """Takes the copy back if the delete fails, to begin again from a clean state. But the delete
    may have been done."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while not await self._has_moved(client, item):
                await client.sleep(100)

    async def _has_moved(self, client: Client, item: str) -> bool:
        try:
            note = await client.get(Note, item, self.source)
            with contextlib.suppress(AlreadyExists):
                await client.create(self.copy_of(note))
        except NotFound:
            return True
        except Unavailable:
            return False
        try:
            await client.delete(note)
        except ApiError:
            with contextlib.suppress(ApiError):
                await client.delete(self.copy_of(note), whatever_it_was=True)
            return False
        return True


class DeletesWhateverIsThere(NoteMover):
    """Deletes the original whether or not it is still what was copied."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    with contextlib.suppress(AlreadyExists):
                        await client.create(self.copy_of(note))
                    await client.delete(note, whatever_it_was=True)
                    break
                except NotFound:
                    break
                except Unavailable:
                    await client.sleep(100)


class CopiesOnlyOnce(NoteMover):
    """After a Conflict it reads and deletes again, and leaves the copy as it was."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    with contextlib.suppress(AlreadyExists):
                        await client.create(self.copy_of(note))
                    await client.delete(note)
                    break
                except NotFound:
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class ReadsJustBeforeTheDelete(NoteMover):
    """Reads the original again just before it deletes it, to have its newest revision; and so it
    deletes what it has not copied."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    try:
                        await client.create(self.copy_of(note))
                    except AlreadyExists:
                        copy = await client.get(Note, item, self.target)
                        await client.update(copy.saying(**note.data))
                    await client.delete(await client.get(Note, item, self.source))
                    break
                except NotFound:
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class DiesOfAConflict(NoteMover):
    """Does not expect that another program writes."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    with contextlib.suppress(AlreadyExists):
                        await client.create(self.copy_of(note))
                    await client.delete(note)
                    break
                except NotFound:
                    break
                except Unavailable:
                    await client.sleep(100)


class WritesADraftFirst(NoteMover):
    """Writes a draft into the target, deletes the original, and then makes the draft good. No crash
    loses it; but for a while there is only a draft."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    await self._move(client, item)
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)

    async def _move(self, client: Client, item: str) -> None:
        try:
            note = await client.get(Note, item, self.source)
            drafted = Map({f"draft-{name}": text for name, text in note.data.items()})
            try:
                await client.create(Note(Meta(item, self.target), drafted))
            except AlreadyExists:
                copy = await client.get(Note, item, self.target)
                await client.update(Note(copy.meta, drafted))
            await client.delete(note)
        except NotFound:
            pass
        draft = await client.get(Note, item, self.target)
        good = {name.removeprefix("draft-"): text for name, text in draft.data.items()}
        await client.update(Note(draft.meta, Map(good)))


class CopiesUnderANewName(NoteMover):
    """Gives each life a copy of its own, so that none is in the way."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            while True:
                try:
                    note = await client.get(Note, item, self.source)
                    name = f"{item}-{client.life}" if client.life > 1 else item
                    await client.create(Note(Meta(name, self.target), note.data))
                    await client.delete(note)
                    break
                except NotFound:
                    break
                except AlreadyExists:
                    await client.delete(note)
                    break
                except (Conflict, Unavailable):
                    await client.sleep(100)


class KnowsTheMenu(NoteMover):
    """Knows the World by heart: the menu goes from blue to green."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                note = await client.get(Note, "menu", "blue")
                try:
                    await client.create(Note(Meta("menu", "green"), note.data))
                except AlreadyExists:
                    copy = await client.get(Note, "menu", "green")
                    await client.update(copy.saying(**note.data))
                await client.delete(note)
            except NotFound:
                return
            except (Conflict, Unavailable):
                await client.sleep(100)
