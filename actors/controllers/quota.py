"""The quota controller: counts what the pods of a namespace take, and writes it on its quotas.

1. A quota is counted anew when it comes to be or its limits change, when a pod of its namespace
   ends or is gone (PRI-24), and now and then: what was charged for a pod that never came is freed
   only so.
2. It counts the pods that its Cache knows, and writes the sum on the quota as it knows that. If the
   quota is another one by then, an API server may just have charged it: it counts again, later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

import attrs

from actors.shared.workqueue import Workqueue
from testbed import Actor, ApiError, Cache, Client, NotFound
from testbed.objects import Map, Pod, QuotaStatus, ResourceQuota, charge
from testbed.objects.quantity import whole

Want = Callable[[ResourceQuota], None]


@attrs.frozen
class QuotaController(Actor):
    """Sees to it that each quota says what is taken of it."""

    rank: ClassVar[int] = 3

    resync_ms: int = 300_000
    """How often it counts all of them, whatever it has heard."""

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
            is_done = quota is None or await self._write(client, quota, pods)
            todo.done(key, has_failed=not is_done)

    def _listen(
        self, client: Client, quotas: Cache[ResourceQuota], pods: Cache[Pod], want: Want
    ) -> None:
        """Have those counted again that something has happened to."""

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
            await client.sleep(self.resync_ms, "resync")
            for quota in quotas.all():
                want(quota)

    async def _write(self, client: Client, quota: ResourceQuota, pods: Cache[Pod]) -> bool:
        """Whether the quota says by now what is taken of it, or is gone."""
        status = counted(quota, pods.all(), client.now())
        if status == quota.status:
            return True
        try:
            await client.update(attrs.evolve(quota, status=status), subresource="status")
        except NotFound:
            return True
        except ApiError:
            return False
        return True


def counted(quota: ResourceQuota, pods: Iterable[Pod], now_ms: int) -> QuotaStatus:
    """Its limits, and what those of these pods take that it counts; what is no pod's to take
    stays as it was."""
    hard = quota.spec.hard
    used = Map({name: whole(0) for name in charge.charged(hard)})
    for pod in pods:
        if pod.meta.namespace == quota.meta.namespace and charge.counts(quota, pod):
            used = charge.plus(used, charge.only(charge.charge_of(pod, now_ms), used))
    return QuotaStatus(hard, charge.only({**quota.status.used, **used}, hard))
