"""Paid twice: two clerks pay an invoice each at a bank that keeps its own books; one gets no
answer, and pays once more."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Client, Evidence, Operation, StoreEndpoint, World, quiescent
from testbed.errors import Unavailable
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Map, Note
from tests.told.frame import Told


class Bank(StoreEndpoint):
    """Pays whatever it is told to, but a reference only once."""

    def __init__(self, store: Any) -> None:
        super().__init__(store, "bank")
        self.paid: list[str] = []
        self.references: set[str] = set()

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        """`pay` is written down, and done."""
        if operation.verb != "pay":
            return (yield from super().handle(operation, caller, now_ms))
        reference = operation.options["reference"]
        if not reference or reference not in self.references:
            self.paid.append(operation.name)
            self.references.add(reference)
        return None


@attrs.frozen
class Clerk(Actor):
    """Pays one invoice. With `guard` it gives a reference."""

    invoice: str
    guard: bool

    async def run(self, client: Client) -> None:
        """Until the bank has answered."""
        options = Map(reference=self.invoice if self.guard else "")
        while True:
            try:
                pay = Operation("pay", "notes", self.invoice, options=options, endpoint="bank")
                await client.ask(pay)
                break
            except Unavailable:
                await client.sleep(1_000, "ask again")
        await client.create(Note(f"paid-{self.invoice}"))


def nothing_is_paid_twice(see: Evidence) -> str | None:
    """The bank has paid as often as there were invoices."""
    bank: Any = see.wire.posts["bank"].endpoint
    return f"{len(bank.paid)} payments for 2 invoices" if len(bank.paid) > 2 else None


def paid_twice(world: World, *, guard: bool = False) -> None:
    """An answer is lost, and money with it."""
    world.serve(Bank)
    world.start(Clerk("ann", "rent", guard), Clerk("bob", "power", guard))
    world.claim(quiescent(nothing_is_paid_twice))
    world.allow(LoseReply("*"))


TRUE = Told(
    paid_twice,
    race="""
faults:
  - lose_reply: bob pay notes/power
""",
    actor="bob",
    about=("power",),
    did=("again", "twice", "repeated", "second"),
    words=("no answer", "lost"),
    never=("^ann", "created notes/default/paid-power.*broke"),
    said=(
        "bob got no answer to its pay of notes/power, which had taken effect, and paid it again."
    ),
)
