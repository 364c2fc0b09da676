"""Late target: a migration gets no answer to the create of its target, finds none, and gives up;
the create takes effect later, and blocks the next migration (kubevirt/kubevirt PR#7787)."""

from __future__ import annotations

import attrs

from testbed import Actor, Client, Evidence, NotFound, World, quiescent
from testbed.errors import AlreadyExists, TimedOut
from testbed.objects import Note
from tests.told.frame import Told

TIMEOUT_MS = 2_000


@attrs.frozen
class Migrations(Actor):
    """Makes a target (a Note) for each of two migrations, uses it, and deletes it. With `guard` it
    waits for its answer, however long that takes."""

    guard: bool

    async def run(self, client: Client) -> None:
        """One after the other, ten seconds apart."""
        for number in (1, 2):
            await self._migrate(client, number)
            await client.sleep(10_000, "next")

    async def _migrate(self, client: Client, number: int) -> None:
        target = Note("target").saying(of=str(number))
        try:
            await client.create(target, timeout_ms=None if self.guard else TIMEOUT_MS)
        except TimedOut:
            try:
                await client.get(Note, "target")
            except NotFound:
                client.record("failed", migration=number)
                return
        except AlreadyExists:
            client.record("there are multiple targets", migration=number)
            return
        await client.delete(target, whatever_it_was=True)
        client.record("migrated", migration=number)


def the_second_migration_succeeds(see: Evidence) -> str | None:
    """The first may fail, the second not."""
    done = [each.facts["migration"] for each in see.records if each.name == "migrated"]
    return None if 2 in done else f"migrations {done} are done"


def late_target(world: World, *, guard: bool = False) -> None:
    """A create takes effect when nobody waits for it any more."""
    world.start(Migrations("virt-controller", guard))
    world.claim(quiescent(the_second_migration_succeeds))


TRUE = Told(
    late_target,
    race="""
holds:
  - hold: virt-controller create notes/default/target
    until: 5s
""",
    actor="virt-controller",
    about="notes/default/target",
    words=("timed out", "no answer", "in time", "late"),
    did=("took effect", "taken effect", "AlreadyExists", "later"),
    said=(
        "virt-controller's create of notes/default/target timed out and took effect later, when it "
        "had given that migration up; so its next create was refused, AlreadyExists."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: virt-controller create notes/default/target#2
    until: virt-controller get notes/default/target
""",
        "virt-controller's second create of notes/default/target timed out; it found no target and "
        "gave the migration up, and the create took effect later.",
    ),
)
