"""Gave up: two students each add one to a stock; one is refused, since the other has written, and
takes that for done."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Note
from tests.told.frame import Told


@attrs.frozen
class Student(Actor):
    """Adds one to the stock. With `guard` it does so again after a Conflict."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once."""
        while True:
            stock = await client.get(Note, "stock")
            more = stock.saying(count=str(int(stock.data["count"]) + 1))
            try:
                await client.update(more)
                return
            except Conflict:
                if not self.guard:
                    return


def both_have_added(see: Evidence) -> str | None:
    """The stock is two."""
    stock: Any = see.store.peek("notes/default/stock")
    count = stock.value.data["count"]
    return f"the stock is {count} where 2 were added" if count != "2" else None


def gave_up(world: World, *, guard: bool = False) -> None:
    """A Conflict is caught, and nothing is done about it."""
    world.add(Note("stock").saying(count="0"))
    world.start(Student("alpha", guard), Student("beta", guard))
    world.claim(quiescent(both_have_added))


TRUE = Told(
    gave_up,
    race="""
holds:
  - hold: alpha update notes/default/stock
    until: beta update notes/default/stock
""",
    actor="alpha",
    about="notes/default/stock",
    words=("Conflict", "refused", "409"),
    did=("never", "not repeat", "gave up", "did not", "wrote nothing"),
    never=("^beta updated .* and that broke it",),
    said=(
        "alpha's update of notes/default/stock was refused, Conflict, since beta had written "
        "it at rv 3; alpha never repeated it."
    ),
)

ALSO = (
    TRUE.also(
        "other",
        """
holds:
  - hold: beta update notes/default/stock
    until: alpha update notes/default/stock
  - hold: alpha get notes/default/stock
    until: beta get notes/default/stock
""",
        "beta's update of notes/default/stock was refused, Conflict, since alpha had written it at "
        "rv 3; beta never repeated it.",
        actor="beta",
    ),
)
