"""Small Worlds from plain data, in each of which an unsound search misses something."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.fault import Fault
from testbed.invariant import Evidence, always
from testbed.objects import Lease, Note, Revision
from testbed.turns.waits import Queue
from testbed.world.world import World

Word = tuple[Any, ...]
"""What an actor does, and what it needs for that: `("update", "x")`, `("spawn", "w", (…))`."""


@attrs.frozen
class Scripted(Actor):
    """Does one thing after the other, and records what each comes to. Its tasks share nothing but
    Caches and queues."""

    shares_memory: ClassVar[bool] = False

    words: tuple[Word, ...]

    async def run(self, client: Client) -> None:
        await _Hands(client, client.queue("q", idle=True)).do("main", self.words)


@attrs.frozen
class Scene:
    """A World as data: what each actor does, which notes are there, what may strike."""

    scripts: tuple[tuple[Word, ...], ...]
    notes: tuple[str, ...] = ("x",)
    faults: tuple[Fault, ...] = ()
    reads: tuple[str, ...] | None = ()
    """What its claim, which never breaks, says that it reads; None: anything."""
    turns_max: int = 1_000
    slow_ms: int = 0
    """How long the Store takes to serve a request."""

    def build(self, world: World) -> None:
        """Assemble it."""
        for name in self.notes:
            world.add(Note(name).saying(by="nobody"))
        for name, words in zip("abc", self.scripts, strict=False):
            world.start(Scripted(name, words))
        if self.slow_ms:
            world.latency("get notes", serve_ms=self.slow_ms)
        world.allow(*self.faults)
        world.claim(always(_nothing_is_wrong, reads=self.reads))
        world.limit(turns_max=self.turns_max)


def _nothing_is_wrong(see: Evidence) -> str | None:
    return None


@attrs.frozen
class _Hands:
    """What one life of an actor has in hand, for all its tasks."""

    client: Client
    queue: Queue

    async def do(self, task: str, words: tuple[Word, ...]) -> None:
        """One after the other."""
        for word in words:
            try:
                said = await self.act(task, *word)
            except ApiError as error:
                said = error.reason
            self.client.record("did", what=word[0], said=str(said))

    async def act(self, task: str, word: str, *given: Any) -> object:
        """One of them; what it comes to."""
        client = self.client
        match word:
            case "get":
                return (await client.get(Note, given[0])).data["by"]
            case "hurried":
                return (await client.get(Note, given[0], timeout_ms=given[1])).data["by"]
            case "past":
                return (await client.get(Note, given[0], at=Revision(given[1]))).data["by"]
            case "list":
                return [note.data["by"] for note in (await client.list(Note)).items]
            case "listen":
                return await self.listen(*given)
            case "update":
                new = Note(given[0]).saying(by=task)
                return (await client.update(new, whatever_it_was=True)).data["by"]
            case "swap":
                old = await client.get(Note, given[0])
                return (await client.update(old.saying(by=task))).data["by"]
            case "create":
                await client.create(Note(given[0]).saying(by=task))
            case "lease":
                await client.create(Lease(given[0]))
            case "cache":
                await Cache(client, Note).synced()
            case "put":
                self.queue.put(task)
            case "take":
                return await self.queue.get()
            case "pick":
                return client.pick("lot", given)
            case "spawn":
                client.spawn(given[0], self.do, f"{task}.{given[0]}", given[1])
        return ""

    async def listen(self, *names: str) -> str:
        """List; and if all of these were written since, open a watch from there, and wait for the
        first that it hears."""
        listed = await self.client.list(Note)
        notes = [await self.client.get(Note, name) for name in names]
        if any(one.data["by"] == "nobody" for one in notes):
            return ""
        stream = await self.client.watch(Note, listed.revision)
        heard = await stream.next()
        return str(heard.key)
