"""An audit reads forty accounts; a transfer between the last two lands in its last gap."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs

from actors.shared.retries import until_told
from testbed import Actor, Client, Evidence, Expired, Found, Operation, World, always
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
        while True:
            try:
                total = await self.total(client)
            except Expired:
                continue
            client.record("audited", total=total)
            return

    async def total(self, client: Client) -> int:
        """The money in all accounts. Expired if the revision at which it reads is compacted."""
        at, total = UNSET, 0
        if self.guard:
            at = (await until_told(client, lambda: client.list(Note), why="retry list")).revision
        for number in range(1, ACCOUNTS + 1):
            read = partial(client.get, Note, account(number), at=at)
            total += int((await until_told(client, read, why="retry read")).data["money"])
        return total


@attrs.frozen
class Teller(Actor):
    """Moves money from the last account but one to the last, in one short transaction."""

    rank: ClassVar[int] = 1

    async def run(self, client: Client) -> None:
        last = Note(account(ACCOUNTS), data=Map(money=str(EACH + 5)))
        last_but_one = Note(account(ACCOUNTS - 1), data=Map(money=str(EACH - 5)))
        meta = last.meta
        transfer = Operation("txn", last.plural, meta.name, meta.namespace, (last_but_one, last))
        # It says what the two accounts hold afterwards, so it may take effect twice.
        await until_told(client, lambda: client.ask(transfer), why="retry transfer")


def every_audit_balances(see: Evidence) -> Found | None:
    """Money is only moved, so every audit finds the same total."""
    for record in see.records:
        if record.name == "audited" and record.facts["total"] != ACCOUNTS * EACH:
            text = f"the audit found {record.facts['total']} of {ACCOUNTS * EACH}"
            return Found(text, reason="unequal")
    return None


def late_short_write(world: World, *, guard: bool = False) -> None:
    """Forty reads of which two matter, and one write that must land between those two.

    Cause: each read is of another revision, so the audit has one account from before the transfer
      and one from after it.
    Look for: the transfer comes between the reads of the last two accounts.
    Source: none; a classic.
    Tags: check-then-act, silent.
    """
    for number in range(1, ACCOUNTS + 1):
        world.add(Note(account(number), data=Map(money=str(EACH))))
    world.start(Auditor("auditor", guard=guard), Teller("teller"))
    world.claim(always(every_audit_balances, reads=("records",)))
