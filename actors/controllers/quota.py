"""The quota controller: sums up what the pods of a namespace use, and writes that on its quotas.

1. A quota is counted again when it is created or its limits change, when a pod of its namespace
   ends or is deleted (PRI-24), and every five minutes: a charge for a pod that was never created is
   freed only then.
2. It counts the pods in its Cache, and updates the quota at the revision in its Cache. If that is
   refused, an API server may just have charged the quota, so it counts again later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

import attrs

from actors.shared.settings import at_least
from actors.shared.workqueue import Workqueue, is_done
from testbed import Actor, Cache, Client
from testbed.objects import Map, Pod, QuotaStatus, ResourceQuota, charge
from testbed.objects.quantity import whole

Want = Callable[[ResourceQuota], None]


@attrs.frozen
class QuotaController(Actor):
    """Keeps `status.used` of each ResourceQuota right."""

    rank: ClassVar[int] = 3

    resync_ms: int = attrs.field(default=300_000, validator=at_least(1))
    """How often it counts all quotas, whatever it has heard."""

    async def run(self, client: Client) -> None:
        quotas, pods = Cache(client, ResourceQuota), Cache(client, Pod)
        todo = Workqueue(client)

        def want(quota: ResourceQuota) -> None:
            todo.add(quota.key)

        self._listen(client, quotas, pods, want)
        await quotas.synced()
        await pods.synced()
        client.spawn("resync", self._resync, client, quotas, want)
        while True:
            key = await todo.take()
            quota = quotas.items.get(key)
            has_failed = quota is not None and not await is_done(self._write(client, quota, pods))
            todo.done(key, has_failed=has_failed)

    def _listen(
        self, client: Client, quotas: Cache[ResourceQuota], pods: Cache[Pod], want: Want
    ) -> None:
        """Queue the quotas that a change may concern."""

        def freed(pod: Pod) -> None:
            for quota in quotas.all():
                if quota.meta.namespace == pod.meta.namespace and charge.charged(quota.status.hard):
                    want(quota)

        def changed(old: ResourceQuota, new: ResourceQuota) -> None:
            if old.spec.hard != new.spec.hard:
                want(new)

        def moved(old: Pod, new: Pod) -> None:
            if charge.is_freed(old, new, client.now()):
                freed(new)

        quotas.on(add=want, update=changed)
        pods.on(update=moved, delete=freed)

    async def _resync(self, client: Client, quotas: Cache[ResourceQuota], want: Want) -> None:
        while True:
            await client.sleep(self.resync_ms, "resync", idle=True)
            for quota in quotas.all():
                want(quota)

    async def _write(self, client: Client, quota: ResourceQuota, pods: Cache[Pod]) -> None:
        """Count a quota, and write it if it is not right already."""
        status = counted(quota, pods.all(), client.now())
        if status != quota.status:
            await client.update(attrs.evolve(quota, status=status), subresource="status")


def counted(quota: ResourceQuota, pods: Iterable[Pod], now_ms: int) -> QuotaStatus:
    """The status of a quota: its limits, and what the pods that it counts use. What no pod uses,
    such as the number of services, stays as it was."""
    hard = quota.spec.hard
    used = Map({name: whole(0) for name in charge.charged(hard)})
    for pod in pods:
        if pod.meta.namespace == quota.meta.namespace and charge.counts(quota, pod):
            used = charge.plus(used, charge.only(charge.charge_of(pod, now_ms), used))
    return QuotaStatus(hard, charge.only({**quota.status.used, **used}, hard))
