"""Seats: three students book the last two seats of a course; each counts first, and books then."""

from __future__ import annotations

import attrs

from testbed import Actor, Client, Conflict, Evidence, World, always
from testbed.errors import AlreadyExists
from testbed.objects import Note
from tests.told.frame import Told

SEATS = 2


@attrs.frozen
class Student(Actor):
    """Books a seat if there are fewer bookings than seats. With `guard` a booking has the number of
    its seat, so that each can be booked once."""

    at_ms: int
    guard: bool

    async def run(self, client: Client) -> None:
        """Once."""
        await client.sleep(self.at_ms, "get up")
        taken = len((await client.list(Note)).items)
        while taken < SEATS:
            name = f"seat-{taken}" if self.guard else self.name
            try:
                await client.create(Note(name).saying(by=self.name))
                client.record("has a seat")
                return
            except (AlreadyExists, Conflict):
                taken += 1


def two_have_a_seat(see: Evidence) -> str | None:
    """No more students than seats."""
    booked = sum(each.name == "has a seat" for each in see.records)
    return f"{booked} have been promised one of {SEATS}" if booked > SEATS else None


def seats(world: World, *, guard: bool = False) -> None:
    """Two come at the same time, when one seat is left."""
    for name, at_ms in (("cem", 1_000), ("dora", 2_000), ("eva", 3_000)):
        world.start(Student(name, at_ms, guard))
    world.claim(always(two_have_a_seat))


TRUE = Told(
    seats,
    race="""
holds:
  - hold: dora create notes/default/dora
    until: eva create notes/default/eva
""",
    actor="dora",
    made_so="eva",
    about=("notes/default/dora",),
    words=("notes/default/eva", "one booking", "had listed"),
    did=("created",),
    never=("^cem", "^eva", "recorded"),
    said=(
        "dora created notes/default/dora, believing that there was no notes/default/eva, as it "
        "listed at rv 2; false since eva created it at rv 3."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: cem create notes/default/cem
    until: eva list notes
""",
        "eva created notes/default/eva, believing that there was no notes/default/cem, as "
        "it listed at rv 2; false since cem created it at rv 3.",
        actor="eva",
        made_so="cem",
        about="notes/default/eva",
        words=("notes/default/cem",),
        never=("^cem", "^dora", "recorded"),
    ),
)
