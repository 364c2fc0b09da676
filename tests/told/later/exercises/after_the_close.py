"""After the close: a chair closes the session; a speaker has seen it open, and speaks when it is
closed. The claim is over what they record alone."""

from __future__ import annotations

import attrs

from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.objects import Note
from tests.told.frame import Told


@attrs.frozen
class Speaker(Actor):
    """Speaks if the session is open by what it knows. With `guard` it asks instead."""

    at_ms: int
    guard: bool

    async def run(self, client: Client) -> None:
        """Once."""
        sessions = Cache(client, Note)
        await sessions.synced()
        await client.sleep(self.at_ms, "go to the desk")
        session = sessions.get("session")
        if self.guard:
            session = await client.get(Note, "session")
        if session is not None and session.data["is"] == "open":
            client.record("speaks")


class Chair(Actor):
    """Closes the session."""

    async def run(self, client: Client) -> None:
        """After five seconds."""
        await client.sleep(5_000, "close")
        await client.update(Note("session").saying(**{"is": "closed"}))
        client.record("closes the session")


def nobody_speaks_after_the_close(see: Evidence) -> str | None:
    """Once the chair has closed it, nobody speaks."""
    names = [each.name for each in see.records]
    if "closes the session" in names and names[-1] == "speaks":
        return "somebody speaks when the session is closed"
    return None


def after_the_close(world: World, *, guard: bool = False) -> None:
    """The news of the close is late."""
    world.add(Note("session").saying(**{"is": "open"}))
    world.start(Speaker("kim", 2_000, guard), Speaker("lea", 6_000, guard), Chair("chair"))
    world.claim(always(nobody_speaks_after_the_close))


TRUE = Told(
    after_the_close,
    race="""
holds:
  - hold: delivery of notes/default/session to lea
    until: 8s
""",
    actor="lea",
    made_so="chair",
    about="notes/default/session",
    words=("open", r"data\.is"),
    never=("^chair", "^kim"),
    said=(
        'lea spoke, believing that data.is of notes/default/session was "open", as it listed at '
        "rv 2; false since chair closed it at rv 3."
    ),
)
