"""Tickets: three clerks give out numbers from one counter; each reads it, tears a ticket off, and
writes the next number, whatever has become of it."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, Client, Conflict, Evidence, World
from testbed.invariant import RECORD, Invariant
from testbed.objects import Note
from testbed.turns.trace import Step
from tests.told.frame import Told


@attrs.frozen
class Clerk(Actor):
    """Gives out one ticket. With `guard` it writes the number first, and only as it has read it."""

    at_ms: int
    guard: bool

    async def run(self, client: Client) -> None:
        """Once."""
        await client.sleep(self.at_ms, "open")
        while True:
            counter = await client.get(Note, "counter")
            number = int(counter.data["next"])
            try:
                taken = counter.saying(next=str(number + 1))
                await client.update(taken, whatever_it_was=not self.guard)
            except Conflict:
                continue
            client.record("gives out", number=number)
            return


class EachNumberOnce(Invariant):
    """No number is given out that was given out before."""

    name = "each_number_once"
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self) -> None:
        self.given: set[int] = set()

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        """A ticket was given out."""
        last = evidence.records[-1]
        if last.name != "gives out":
            return None
        number = last.facts["number"]
        if number in self.given:
            return f"two people wait with number {number}"
        self.given.add(number)
        return None


def tickets(world: World, *, guard: bool = False) -> None:
    """Two read the same number."""
    world.add(Note("counter").saying(next="1"))
    for name, at_ms in (("gil", 1_000), ("hal", 2_000), ("ida", 3_000)):
        world.start(Clerk(name, at_ms, guard))
    world.claim(EachNumberOnce())


TRUE = Told(
    tickets,
    race="""
holds:
  - hold: gil update notes/default/counter
    until: ida get notes/default/counter
  - hold: hal update notes/default/counter
    until: ida update notes/default/counter
""",
    actor=("hal", "ida", "gil"),
    about="notes/default/counter",
    did=("updated", "gave", "gives"),
    words=("next", "number", "believing"),
    never=("recorded",),
    said=(
        "hal updated notes/default/counter, believing that data.next was 1, as it read at rv 2; "
        "false since ida set it to 2 at rv 4, so both gave out number 1."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: gil update notes/default/counter
    until: hal get notes/default/counter
""",
        "hal updated notes/default/counter, believing that data.next was 1, as it read at rv 2; "
        "false since gil set it to 2 at rv 3, so both gave out number 1.",
        actor="hal",
        made_so="gil",
    ),
)
