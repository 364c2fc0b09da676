"""User: creates objects from outside the cluster, each at its time."""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.shared.retries import make
from testbed import Actor, Client
from testbed.objects import Object


@attrs.frozen
class User(Actor):
    """Creates each of its objects at its time after the start, and is done. Objects that an earlier
    life has created are left alone. A create that fails is tried again after a second, unless the
    server refuses it for good."""

    rank: ClassVar[int] = 0

    creates: tuple[tuple[int, Object], ...] = ()
    """Milliseconds after the start, and the object; in the order of time."""

    async def run(self, client: Client) -> None:
        began_ms = client.now()
        for at_ms, item in self.creates:
            if (left_ms := began_ms + at_ms - client.now()) > 0:
                await client.sleep(left_ms, f"create {item.key}")
            await make(client, item)
