"""Baton: three runners hand a baton on; one puts it down, and dies before the next one has it."""

from __future__ import annotations

from itertools import pairwise

import attrs

from testbed import Actor, Client, Evidence, World, quiescent
from testbed.faults.crash import Crash
from testbed.objects import Note
from tests.told.frame import Told


@attrs.frozen
class Runner(Actor):
    """Waits for the baton, runs, and hands it on. With `guard` it gives first, and lets go then."""

    after: str
    guard: bool

    async def run(self, client: Client) -> None:
        """Look every second; hand it on once."""
        while True:
            mine = await client.get(Note, self.name)
            if mine.data["has"] == "yes":
                await client.sleep(2_000, "run")
                writes = [Note(self.name).saying(has="no"), Note(self.after).saying(has="yes")]
                for write in reversed(writes) if self.guard else writes:
                    await client.update(write, whatever_it_was=True)
                return
            await client.sleep(1_000, "look")


def somebody_has_the_baton(see: Evidence) -> str | None:
    """It is never lost."""
    has = [entry.value.data["has"] for entry in see.store.snapshot("notes/")]  # type: ignore[attr-defined]
    return None if "yes" in has else "the baton lies on the ground"


def baton(world: World, *, guard: bool = False) -> None:
    """One of three falls."""
    names = ("mia", "ned", "olga", "goal")
    for name, after in pairwise(names):
        world.add(Note(name).saying(has="yes" if name == "mia" else "no"))
        world.start(Runner(name, after, guard))
    world.add(Note("goal").saying(has="no"))
    world.claim(quiescent(somebody_has_the_baton))
    world.allow(Crash("*"))
    world.limit(until_ms=30_000)


TRUE = Told(
    baton,
    race="""
faults:
  - crash: ned
    after: ned update notes/default/ned
""",
    actor="ned",
    about=("notes/default/ned", "notes/default/olga"),
    words=("crash",),
    never=("^mia", "^olga"),
    said=(
        "ned updated notes/default/ned to has=no and crashed before its update of "
        "notes/default/olga, so nobody has the baton."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
faults:
  - crash: olga
    after: olga update notes/default/olga
""",
        "olga updated notes/default/olga to has=no and crashed before its update of "
        "notes/default/goal, so nobody has the baton.",
        actor="olga",
        about=("notes/default/olga", "notes/default/goal"),
        never=("^mia", "^ned"),
    ),
)
