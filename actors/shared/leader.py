"""Leader: leader election by a Lease, as client-go does it (SCH-6, T-11).

1. A replica that finds no lease creates it, and leads.
2. A replica that finds a lease with another holder leaves it alone until it has seen no change of
   it for 15 s.
3. Then it takes the lease by an update, which is refused if the lease has changed after all. Each
   change of holder counts `leaseTransitions` up.
4. The leader renews the lease 2 s after each renewal, by the same steps. If one fails, it retries
   every 2 s, counted from the beginning of the renewal. If that fails for 10 s, it leads no more,
   whatever the lease says by then.
"""

from __future__ import annotations

from testbed import ApiError, Client, NotFound
from testbed.objects import Lease, Meta
from testbed.objects.lease import LeaseSpec
from testbed.objects.meta import evolved

LEASE_MS, RENEW_MS, RETRY_MS = 15_000, 10_000, 2000
"""`leaseDuration`, `renewDeadline` and `retryPeriod` of Kubernetes."""
REQUEST_MS = RENEW_MS // 2
"""How long one request may take."""
RESTART_MS = 10_000
"""Restart backoff: how long after it exits the kubelet starts a replica again (T-21)."""


class Leader:
    """One replica in the election. An actor makes it in `run`, one for each life.

    `await lead()`, then `await keep()` in a task of its own: when that returns, it leads no more.
    Two replicas may believe at once that they lead, since one that was stalled or cut off finds
    out late. `is_sure` is for a leader that must not act then.
    """

    def __init__(self, client: Client, name: str, namespace: str = "kube-system") -> None:
        self._client = client
        self._meta = Meta(name, namespace)
        self.identity = f"{client.name}_{client.life}"
        """Of this life alone: after a restart it has to wait like any other replica."""
        self._observed = Lease(self._meta)
        self._observed_ms = 0
        """When the lease was last seen to change, by this replica's monotonic clock."""
        self._sure_until_ms = 0
        self.term = 0
        """The `leaseTransitions` when it last became leader or renewed: larger for each leader than
        for all before it."""

    @property
    def is_leading(self) -> bool:
        """Whether it held the lease when it last saw it."""
        return self._observed.spec.holder == self.identity

    @property
    def is_sure(self) -> bool:
        """Whether no other replica can hold the lease yet.

        Others wait for 15 s after they saw the last renewal, and they cannot have seen it before it
        was sent. So it is sure for 15 s from when it sent the last renewal that succeeded. This
        assumes that all clocks run equally fast, and that the lease is not deleted.
        """
        return self._client.elapsed() < self._sure_until_ms

    async def lead(self) -> None:
        """Wait until it leads."""
        while not await self._try(REQUEST_MS):
            await self._client.sleep(RETRY_MS, "retry lease")

    async def keep(self) -> None:
        """Renew the lease; return when no renewal has succeeded for ten seconds."""
        while await self._renewed():
            await self._client.sleep(RETRY_MS, "renew lease")

    async def release(self) -> None:
        """Give the lease up, so that another replica can take it at once, as the scheduler of
        Kubernetes does when it is told to end (kubernetes PR#100305)."""
        if self.is_leading:
            now_ms = self._client.now()
            self._sure_until_ms = 0
            transitions = self._observed.spec.transitions
            await self._write(LeaseSpec("", 1, now_ms, now_ms, transitions), REQUEST_MS)

    async def _renewed(self) -> bool:
        """Whether one renewal succeeds within ten seconds."""
        client = self._client
        began_ms = client.elapsed()
        until_ms = began_ms + RENEW_MS
        while (left_ms := until_ms - client.elapsed()) > 0:
            if await self._try(min(left_ms, REQUEST_MS)):
                return True
            left_ms = until_ms - client.elapsed()
            if left_ms > 0:
                # A ticker runs beside the tries. What it says while one is under way is lost.
                tick_ms = RETRY_MS - (client.elapsed() - began_ms) % RETRY_MS
                await client.sleep(min(tick_ms, left_ms), "retry lease")
        return False

    async def _try(self, timeout_ms: int) -> bool:
        """Take the lease or renew it; returns whether that succeeded."""
        client, meta = self._client, self._meta
        now_ms, began_ms = client.now(), client.elapsed()
        try:
            found = await client.get(Lease, meta.name, meta.namespace, timeout_ms=timeout_ms)
        except NotFound:
            self._observed = Lease(meta)
            spec = LeaseSpec(self.identity, LEASE_MS // 1000, now_ms, now_ms, 0)
            return await self._write(spec, timeout_ms, is_new=True)
        except ApiError:
            return False
        seen, held = found.spec, self._observed.spec
        if seen is not held and seen != held:
            self._observe(found)
        self._observed = found
        # The holder wrote its times by its own clock, and that may be minutes off. So they are only
        # compared with what was there before: a lease that still changes is alive. How long it has
        # not changed is measured by this replica's monotonic clock alone.
        changes, since_ms = seen.transitions or 0, seen.acquired_ms
        if seen.holder != self.identity:
            if seen.holder and began_ms < self._observed_ms + LEASE_MS:
                return False
            changes, since_ms = changes + 1, now_ms
        spec = LeaseSpec(self.identity, LEASE_MS // 1000, since_ms, now_ms, changes)
        return await self._write(spec, timeout_ms)

    async def _write(self, spec: LeaseSpec, timeout_ms: int, *, is_new: bool = False) -> bool:
        """Write the lease; returns whether that succeeded. Another replica may have been faster."""
        # Taken before the request: an answer may come late, and others count from its commit.
        client, sent_ms = self._client, self._client.elapsed()
        lease = evolved(self._observed, spec=spec)
        write = client.create if is_new else client.update
        try:
            self._observe(await write(lease, timeout_ms=timeout_ms))
        except ApiError:
            return False
        if self.is_leading:
            self._sure_until_ms = sent_ms + LEASE_MS
            self.term = spec.transitions or 0
        return True

    def _observe(self, lease: Lease) -> None:
        self._observed, self._observed_ms = lease, self._client.elapsed()
