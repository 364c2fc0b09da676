"""Heartbeat: the Lease by which a kubelet says that it lives (KUB-41; `shared/node_lease.py`)."""

from __future__ import annotations

import attrs

from actors.kubelet.switches import ON_CHANGE
from actors.shared.node_lease import IMPLIED, LAPSED, LEASE_S, NAMESPACE, RENEW_MS
from testbed import ApiError, Client, Conflict, NotFound
from testbed.errors import AlreadyExists
from testbed.objects import Lease, Map, Meta
from testbed.objects.lease import LeaseSpec


class Heartbeat:
    """Renews the Lease of one node, for one life of its kubelet."""

    def __init__(self, client: Client, node: str, heartbeat: str) -> None:
        self._client = client
        self._is_implied = heartbeat == ON_CHANGE
        self._lease: Lease | None = None
        """As it was last written or read; None: not known."""
        self._name = node

    async def run(self) -> None:
        """Renew it every ten seconds; if renewals are implied, write it once."""
        while not await self._beat() or not self._is_implied:
            await self._client.sleep(RENEW_MS, f"renew lease {self._name}")

    async def _beat(self) -> bool:
        """Renew the Lease, or create it; returns whether that succeeded. One that somebody else has
        changed is read again."""
        try:
            if self._lease is None:
                self._lease = await self._client.get(Lease, self._name, NAMESPACE)
            self._lease = await self._client.update(self._renewed(self._lease))
        except NotFound:
            return await self._create()
        except Conflict:
            self._lease = None
            return await self._beat()
        except ApiError:
            return False
        return True

    async def _create(self) -> bool:
        try:
            lease = self._renewed(Lease(Meta(self._name, NAMESPACE)))
            self._lease = await self._client.create(lease)
        except AlreadyExists:
            self._lease = None
            return await self._beat()
        except ApiError:
            self._lease = None
            return False
        return True

    def _renewed(self, lease: Lease) -> Lease:
        """The Lease, renewed now."""
        now_ms = self._client.now()
        spec = LeaseSpec(self._name, LEASE_S, lease.spec.acquired_ms or now_ms, now_ms)
        if self._is_implied:
            spec = LeaseSpec(self._name, LEASE_S)
        notes = {
            name: text
            for name, text in lease.meta.annotations.items()
            if name not in (IMPLIED, LAPSED)
        }
        if self._is_implied:
            notes[IMPLIED] = self._client.name
        return attrs.evolve(lease.with_meta(annotations=Map(notes)), spec=spec)
