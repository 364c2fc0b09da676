"""Leader: one of several replicas at a time, elected by a Lease as Kubernetes' client does it.

1. Who sees no lease creates it, and leads. 2. Who sees one that somebody holds leaves it alone for
as long as it was *seen* to change by his own clock; what is written in it is not compared with any
clock. 3. When it has not changed for 15 s, it is taken: by an update that is refused if it has
changed after all. Its transitions count up. 4. Who leads renews it every 2 s, by the same steps; if
that fails for 10 s he leads no more, whatever he knows by then. (SCH-6, T-11)
"""

from __future__ import annotations

import attrs

from testbed import ApiError, Client, NotFound
from testbed.objects import Lease, Meta
from testbed.objects.lease import LeaseSpec

LEASE_MS, RENEW_MS, RETRY_MS = 15_000, 10_000, 2000
REQUEST_MS = RENEW_MS // 2
"""How long one request may take."""


class Leader:
    """Made in `run`, one for each life. `await lead()`, then `await keep()` in a task of its own:
    when that returns, it is over.

    Two may think at once that they lead: one that was stalled or cut off finds out late. For such
    a one there is `is_sure`.
    """

    def __init__(self, client: Client, name: str, namespace: str = "kube-system") -> None:
        self._client = client
        self._meta = Meta(name, namespace)
        self.identity = f"{client.name}_{client.life}"
        """Of this life alone: the next one has to wait as anybody has."""
        self._seen = Lease(self._meta)
        self._seen_ms = 0
        """When it was seen to change, by a clock that nobody sets."""
        self._sure_until_ms = 0
        self.term = 0
        """Which change of hands it last led by: a larger one for each leader than for any before
        (leaseTransitions)."""

    @property
    def is_leading(self) -> bool:
        """Whether it held the lease when that was last seen."""
        return self._seen.spec.holder == self.identity

    @property
    def is_sure(self) -> bool:
        """Whether nobody else can hold the lease yet: others leave it alone for 15 s from when they
        saw it change, which was after the last renewal that came through was sent.

        It takes for granted that all clocks run as fast, and that no one deletes a lease.
        """
        return self._client.elapsed() < self._sure_until_ms

    async def lead(self) -> None:
        """Wait until it leads."""
        while not await self._try(REQUEST_MS):
            await self._client.sleep(RETRY_MS, "retry lease")

    async def keep(self) -> None:
        """Renew the lease for as long as that succeeds once in ten seconds."""
        while await self._renewed():
            await self._client.sleep(RETRY_MS, "renew lease")

    async def release(self) -> None:
        """Leave the lease to whoever is next, at once. Kubernetes' own components do not."""
        if self.is_leading:
            now_ms = self._client.now()
            self._sure_until_ms = 0
            await self._write(
                attrs.evolve(
                    self._seen.spec, holder="", duration_s=1, renewed_ms=now_ms, acquired_ms=now_ms
                ),
                REQUEST_MS,
            )

    async def _renewed(self) -> bool:
        client = self._client
        until_ms = client.elapsed() + RENEW_MS
        while (left_ms := until_ms - client.elapsed()) > 0:
            if await self._try(min(left_ms, REQUEST_MS)):
                return True
            left_ms = until_ms - client.elapsed()
            if left_ms > 0:
                await client.sleep(min(RETRY_MS, left_ms), "retry lease")
        return False

    async def _try(self, timeout_ms: int) -> bool:
        """Take the lease or renew it; whether that came through."""
        client, meta, now_ms = self._client, self._meta, self._client.now()
        spec = LeaseSpec(self.identity, LEASE_MS // 1000, now_ms, now_ms, 0)
        began_ms = client.elapsed()
        try:
            found = await client.get(Lease, meta.name, meta.namespace, timeout_ms=timeout_ms)
        except NotFound:
            self._seen = Lease(meta)
            return await self._write(spec, timeout_ms, is_new=True)
        except ApiError:
            return False
        if found.spec != self._seen.spec:
            self._saw(found)
        self._seen = found
        if not self.is_leading and found.spec.holder and began_ms < self._seen_ms + LEASE_MS:
            return False
        if self.is_leading:
            spec = attrs.evolve(spec, acquired_ms=found.spec.acquired_ms)
        changes = (found.spec.transitions or 0) + (not self.is_leading)
        spec = attrs.evolve(spec, transitions=changes)
        return await self._write(spec, timeout_ms)

    async def _write(self, spec: LeaseSpec, timeout_ms: int, *, is_new: bool = False) -> bool:
        """If nobody was quicker."""
        client, sent_ms = self._client, self._client.elapsed()
        lease = attrs.evolve(self._seen, spec=spec)
        write = client.create if is_new else client.update
        try:
            self._saw(await write(lease, timeout_ms=timeout_ms))
        except ApiError:
            return False
        if self.is_leading:
            self._sure_until_ms = sent_ms + LEASE_MS
            self.term = spec.transitions or 0
        return True

    def _saw(self, lease: Lease) -> None:
        self._seen, self._seen_ms = lease, self._client.elapsed()
