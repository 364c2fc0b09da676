"""An audit reads forty accounts; a transfer between the last two lands in its last gap."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, Client, Evidence, Operation, World, always
from testbed.objects import UNSET, Map, Note

ACCOUNTS = 40
EACH = 10


def account(number: int) -> str:
    """The name of an account; names sort as the numbers do."""
    return f"account-{number:02}"


@attrs.frozen
class Auditor(Actor):
    """Adds up all accounts, one read each, and records the total."""

    guard: bool = False
    """Whether it reads all of them at one revision, that of a list."""

    async def run(self, client: Client) -> None:
        at = (await client.list(Note)).revision if self.guard else UNSET
        total = 0
        for number in range(1, ACCOUNTS + 1):
            note = await client.get(Note, account(number), at=at)
            total += int(note.data["money"])
        client.record("audited", total=total)


@attrs.frozen
class Teller(Actor):
    """Moves money from the last account but one to the last, in one short transaction."""

    rank: ClassVar[int] = 1

    async def run(self, client: Client) -> None:
        last = Note(account(ACCOUNTS), data=Map(money=str(EACH + 5)))
        last_but_one = Note(account(ACCOUNTS - 1), data=Map(money=str(EACH - 5)))
        meta = last.meta
        transfer = Operation("txn", last.plural, meta.name, meta.namespace, (last_but_one, last))
        await client.ask(transfer)


def every_audit_balances(see: Evidence) -> str | None:
    """Money is only moved, so every audit finds the same total."""
    for record in see.records:
        if record.name == "audited" and record.facts["total"] != ACCOUNTS * EACH:
            return f"the audit found {record.facts['total']} of {ACCOUNTS * EACH}"
    return None


def late_short_write(world: World, *, guard: bool = False) -> None:
    """Forty reads of which two matter, and one write that must land between those two."""
    for number in range(1, ACCOUNTS + 1):
        world.add(Note(account(number), data=Map(money=str(EACH))))
    world.start(Auditor("auditor", guard=guard), Teller("teller"))
    world.claim(always(every_audit_balances, reads=("records",)))
