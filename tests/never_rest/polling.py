"""Polling: an operator that looks every second, and a user who edits the same object."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Note


@attrs.frozen
class Operator(Actor):
    """Looks every second, and writes what it has observed. With `guard` it writes only what it has
    read; without, whatever has become of it."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Poll for ever."""
        while True:
            found = await client.get(Note, "web")
            if found.data["observed"] != found.data["size"]:
                done = found.saying(observed=found.data["size"])
                try:
                    await client.update(done, whatever_it_was=not self.guard)
                except Conflict:
                    continue
            await client.sleep(1_000, "look")


@attrs.frozen
class User(Actor):
    """Sets the size twice."""

    async def run(self, client: Client) -> None:
        """As `kubectl scale` does: again if somebody else was faster."""
        for size in ("2", "3"):
            while True:
                found = await client.get(Note, "web")
                try:
                    await client.update(found.saying(size=size))
                    break
                except Conflict:
                    continue


def the_last_size_is_kept(see: Evidence) -> str | None:
    """What the user has said last stands, and was acted upon."""
    web: Any = see.store.peek("notes/default/web")
    if web.value.data["size"] != "3":
        return "notes/default/web has lost the size that the user has set last"
    if web.value.data["observed"] != "3":
        return "notes/default/web was never acted upon"
    return None


def polling(world: World, *, guard: bool = False) -> None:
    """An operator that polls writes an old size back."""
    world.add(Note("web").saying(size="1", observed="1"))
    world.start(Operator("operator", guard), User("user"))
    world.claim(quiescent(the_last_size_is_kept))
