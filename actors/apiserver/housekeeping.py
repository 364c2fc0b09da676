"""Housekeeping: what goes on behind an API server without a request: old Events expire, and old
history is compacted."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, ApiError, Client, Expired, Operation
from testbed.objects import UNSET, Event, Revision

STORE = "store"
"""It speaks to the Store's own Endpoint, as an API server does to its etcd."""
SOONEST_MS = 60_000
"""It looks for expired Events once a minute at most."""


@attrs.frozen
class Housekeeping(Actor):
    """Expires Events and compacts history. Start one beside an API server. A Run may end without
    its timers, which never end."""

    rank: ClassVar[int] = 3

    name: str = "housekeeping"
    expires: bool = True
    """Whether Events expire."""
    compacts: bool = True
    """Whether history is compacted."""
    ttl_ms: int = 3_600_000
    """How long an Event is kept after it was last written (API-49)."""
    every_ms: int = 300_000
    """The time between two compactions. One to two such periods of history are always kept
    (API-43)."""

    async def run(self, client: Client) -> None:
        """Spawn a task for each; neither ends."""
        if self.expires:
            client.spawn("expire", self._expire, client)
        if self.compacts:
            client.spawn("compact", self._compact, client)

    async def _expire(self, client: Client) -> None:
        """Delete what has expired, and again when the next Event is due."""
        while True:
            try:
                left_ms = await self._expired(client)
            except ApiError:
                left_ms = SOONEST_MS
            await client.sleep(max(left_ms, SOONEST_MS), "expire events", idle=True)

    async def _expired(self, client: Client) -> int:
        """Delete the Events that are due; returns how long it is until the next one is."""
        listing = await client.ask(Operation("list", Event.plural, endpoint=STORE))
        since_ms = client.now() - self.ttl_ms
        ages = [_last_ms(event) - since_ms for event in listing.items]
        for event, left_ms in zip(listing.items, ages, strict=True):
            if left_ms <= 0:
                await _delete(client, event)
        return min([left_ms for left_ms in ages if left_ms > 0], default=self.ttl_ms)

    async def _compact(self, client: Client) -> None:
        """Compact up to the revision that was the last one a period ago, once in each period."""
        then = UNSET
        while True:
            await client.sleep(self.every_ms, "compact", idle=True)
            try:
                try:
                    then = await _compacted(client, then)
                except Expired:
                    # That revision is compacted already: nothing was committed since, or another
                    # Housekeeping was first. Only ask for the revision of now.
                    then = await _compacted(client, UNSET)
            except ApiError:
                continue


async def _delete(client: Client, event: Event) -> None:
    """Delete an Event; Conflict if it was written again in the meantime."""
    meta = event.meta
    operation = Operation(
        "delete", event.plural, meta.name, meta.namespace, revision=meta.revision, uid=meta.uid,
        endpoint=STORE,
    )  # fmt: skip
    await client.ask(operation)


async def _compacted(client: Client, before: Revision) -> Revision:
    """Compact what came before; returns the revision of now."""
    return await client.ask(  # type: ignore[no-any-return]
        Operation("compact", "history", revision=before, endpoint=STORE)
    )


def _last_ms(event: Event) -> int:
    """When an Event was last written."""
    series_ms = event.series.last_ms if event.series is not None else None
    times = (event.meta.created_ms, event.event_ms, event.last_ms, series_ms)
    return max(ms or 0 for ms in times)
