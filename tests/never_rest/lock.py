"""Lock: two batch jobs share an account, and poll a lock until it is theirs."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Note

POLL_MS = 500


@attrs.frozen
class Batch(Actor):
    """Adds one to the account under the lock. With `guard` it takes the lock only as it has seen
    it; without, whatever has become of it."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once, and then it watches over the lock for ever."""
        while True:
            lock = await client.get(Note, "lock")
            if not lock.data["owner"]:
                try:
                    mine = lock.saying(owner=self.name)
                    lock = await client.update(mine, whatever_it_was=not self.guard)
                    break
                except Conflict:
                    continue
            await client.sleep(POLL_MS, "poll")
        account = await client.get(Note, "account")
        await client.sleep(2_000, "count")
        total = str(int(account.data["total"]) + 1)
        await client.update(account.saying(total=total), whatever_it_was=True)
        await client.update(lock.saying(owner=""), whatever_it_was=True)


@attrs.frozen
class Warden(Actor):
    """Looks at the lock for ever, and at nothing else."""

    async def run(self, client: Client) -> None:
        """Poll."""
        while True:
            await client.get(Note, "lock")
            await client.sleep(POLL_MS, "poll")


def nothing_is_lost(see: Evidence) -> str | None:
    """Both have counted."""
    account: Any = see.store.peek("notes/default/account")
    if account.value.data["total"] != "2":
        return f"notes/default/account says {account.value.data['total']} where 2 were added"
    return None


def lock(world: World, *, guard: bool = False) -> None:
    """Two find the lock free, and both take it."""
    world.add(Note("lock").saying(owner=""), Note("account").saying(total="0"))
    world.start(Batch("ann", guard), Batch("ben", guard), Warden("warden"))
    world.claim(quiescent(nothing_is_lost))
