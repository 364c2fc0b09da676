"""Leading: leader election between replicas of a scheduler; what a deposed leader may still do.

As in Kubernetes, the other replicas keep their informers running and wait. A replica that could not
renew its lease for ten seconds ends itself, and its next life begins ten seconds later. Until it
ends it schedules on, even if another one leads already, and what it has sent may take effect at any
time after (SCH-6).

The switch `fencing` prevents that. An API server knows nothing of leases, but it does refuse a
write whose revision is not the current one. So

1. a replica begins no write unless it is sure, by its own clock, that no other one can lead yet;
   and each of its binds names the revision of the pod that it is for;
2. a new leader first changes every pod that has no node: a bind that is still in flight is then
   refused for its revision, or has taken effect before;
3. only then does it list what there is, from the Store itself, and decide.

So no bind of an older leader takes effect once a newer one has begun to decide, provided that all
clocks run equally fast and nothing deletes the lease. The price is a write for each waiting pod at
every change of leader, and informers that list only then. Evictions and status patches are not
fenced: a late one can only harm a victim that was chosen by then.
"""

from __future__ import annotations

from typing import NoReturn

from actors.shared.leader import RESTART_MS, Leader
from testbed import ApiError, Client, NotFound, Selector
from testbed.objects import Pod

TERM = "scheduler.testbed.example/term"
"""The annotation that a new leader writes on a pod without a node: the number of its term."""
RETRY_MS = 1000


class Replica:
    """One life of one of several schedulers for the same pods, which elect a leader."""

    def __init__(self, client: Client, pods_of: str, *, is_fenced: bool) -> None:
        self.is_fenced = is_fenced
        self._client = client
        self._pods_of = pods_of
        self._leader = Leader(client, pods_of)

    async def stand(self) -> None:
        """Call this before the informers list. A fenced replica waits until it leads, and outdates
        all waiting pods."""
        # The order is the point. If it listed first, a bind of the old leader could take effect
        # after the list and before the pod is outdated, and this leader would decide without it.
        if self.is_fenced:
            await self._lead()
            await self._outdate_all()

    async def lead(self) -> None:
        """Call this before the first cycle: it waits until this replica leads. The life ends when
        it no longer does."""
        if not self.is_fenced:
            await self._lead()

    def must_lead(self) -> None:
        """Call this before each write: a fenced replica ends here if another may lead already."""
        if self.is_fenced and not self._leader.is_sure:
            self._end()

    async def _lead(self) -> None:
        await self._leader.lead()
        self._record("leads", "leads")
        self._client.spawn("lease", self._keep)

    async def _keep(self) -> None:
        await self._leader.keep()
        self._end()

    def _end(self) -> NoReturn:
        self._record("leads no more", "could not renew its lease, and ends itself: it led")
        self._client.exit(RESTART_MS)

    def _record(self, name: str, what: str) -> None:
        term = self._leader.term
        self._client.record(name, said=f"{what} {self._pods_of} in term {term}", term=term)

    async def _outdate_all(self) -> None:
        client = self._client
        waiting = Selector(fields=(("spec.node_name", ""), ("spec.scheduler_name", self._pods_of)))
        while True:
            try:
                for pod in (await client.list(Pod, waiting)).items:
                    self.must_lead()
                    await self._outdate(pod)
                return
            except ApiError as error:
                client.record("not outdated", said=str(error))
            await client.sleep(RETRY_MS, "retry outdate")

    async def _outdate(self, pod: Pod) -> None:
        """Patch the pod, so that its revision is newer than any that an older leader knows."""
        note = {"metadata": {"annotations": {TERM: str(self._leader.term)}}}
        try:
            await self._client.patch(pod, note)
        except NotFound:
            self._client.record("is gone", pod=pod.key)
