"""Housekeeping: what goes on behind an API server that nobody asks for: old Events expire, and old
history is compacted away."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, ApiError, Client, Expired, Operation
from testbed.objects import UNSET, Event, Revision

STORE = "store"
"""It is the Store's own Endpoint that it speaks to, as an API server does to its etcd."""
SOONEST_MS = 60_000
"""Events that expire within a minute of each other go together."""


@attrs.frozen
class Housekeeping(Actor):
    """Start one beside an API server. Its timers never end: let the World come to rest while they
    are all it waits for, by `world.limit(horizon_ms=…)` shorter than they are."""

    rank: ClassVar[int] = 3

    name: str = "housekeeping"
    expires: bool = True
    """Whether Events expire."""
    compacts: bool = True
    """Whether history is compacted."""
    ttl_ms: int = 3_600_000
    """How long an Event is kept after it was last said (API-49)."""
    every_ms: int = 300_000
    """How long apart compactions are: between once and twice that is kept (API-43)."""

    async def run(self, client: Client) -> None:
        """A task for each; neither ends."""
        if self.expires:
            client.spawn("expire", self._expire, client)
        if self.compacts:
            client.spawn("compact", self._compact, client)

    async def _expire(self, client: Client) -> None:
        """Look again when the next Event is due, but not within a minute."""
        while True:
            try:
                left_ms = await self._expired(client)
            except ApiError:
                left_ms = SOONEST_MS
            await client.sleep(max(left_ms, SOONEST_MS), "expire events")

    async def _expired(self, client: Client) -> int:
        """Delete the Events that are due; how long until the next is."""
        listing = await client.ask(Operation("list", Event.plural, endpoint=STORE))
        since_ms = client.now() - self.ttl_ms
        ages = [_told_ms(event) - since_ms for event in listing.items]
        for event, left_ms in zip(listing.items, ages, strict=True):
            if left_ms <= 0:
                await _forget(client, event)
        return min([left_ms for left_ms in ages if left_ms > 0], default=self.ttl_ms)

    async def _compact(self, client: Client) -> None:
        """Forget what came before the revision that was the last one of this a period ago."""
        then = UNSET
        while True:
            await client.sleep(self.every_ms, "compact")
            try:
                try:
                    then = await _compacted(client, then)
                except Expired:
                    # Nothing has happened since, or somebody else has done it.
                    then = await _compacted(client, UNSET)
            except ApiError:
                continue


async def _forget(client: Client, event: Event) -> None:
    """Delete it; Conflict if it was said again meanwhile."""
    meta = event.meta
    operation = Operation(
        "delete", event.plural, meta.name, meta.namespace, revision=meta.revision, uid=meta.uid,
        endpoint=STORE,
    )  # fmt: skip
    await client.ask(operation)


async def _compacted(client: Client, before: Revision) -> Revision:
    """Forget what came before; the revision of now."""
    return await client.ask(  # type: ignore[no-any-return]
        Operation("compact", "history", revision=before, endpoint=STORE)
    )


def _told_ms(event: Event) -> int:
    """When it was last said."""
    series_ms = event.series.last_ms if event.series is not None else None
    times = (event.meta.created_ms, event.event_ms, event.last_ms, series_ms)
    return max(ms or 0 for ms in times)
