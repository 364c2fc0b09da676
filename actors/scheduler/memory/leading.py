"""Leading: of several replicas of a scheduler one schedules; what a deposed one may still do.

As in Kubernetes, the others keep their informers going and wait. One that could not renew its lease
for ten seconds ends itself, and its next life begins ten seconds later. Until then it schedules on,
whoever leads by then; and what it has sent may take effect at any time after (SCH-6).

With the switch `fencing` it may not. An API server knows nothing of leases, but it does refuse what
was read at another revision. So

1. a replica begins no write unless it is sure that nobody else can lead yet, by its own clock, and
   its binds say which revision of the pod they are for;
2. a new leader first changes every pod that has no node, so that a bind that is still on its way is
   refused by its revision, or has taken effect before;
3. only then does it list what there is, from the Store itself, and decide.

So no bind of an older leader takes effect once a newer one has begun to decide, if all clocks run
as fast and nobody deletes the lease. That costs a write for each pod that waits when the leader
changes, and informers that list only then. Not fenced are evictions and what is said in a status:
one that is late can do harm only to a victim that was chosen by then.
"""

from __future__ import annotations

from typing import NoReturn

from actors.shared.leader import Leader
from testbed import ApiError, Client, NotFound, Selector
from testbed.objects import Pod

TERM = "scheduler.testbed.example/term"
"""The annotation a pod is changed by: the number of the leader that has found it without a node."""
AGAIN_MS = 10_000
"""How long after its end a replica is there again, as its kubelet has it (T-21)."""
RETRY_MS = 1000


class Replica:
    """One life of one of several schedulers for the same pods, which elect among them."""

    def __init__(self, client: Client, pods_of: str, *, is_fenced: bool) -> None:
        self.is_fenced = is_fenced
        self._client = client
        self._pods_of = pods_of
        self._leader = Leader(client, pods_of)

    async def stand(self) -> None:
        """Called before it lists anything: fenced, it leads first, and outdates all that waits."""
        if self.is_fenced:
            await self._lead()
            await self._outdate_all()

    async def lead(self) -> None:
        """Called before it schedules: wait until it leads. Its life ends when it does no more."""
        if not self.is_fenced:
            await self._lead()

    def must_lead(self) -> None:
        """Called before each write: fenced, its life ends here if another may lead already."""
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
        self._client.exit(AGAIN_MS)

    def _record(self, name: str, said: str) -> None:
        term = self._leader.term
        self._client.record(name, said=f"{said} {self._pods_of} in term {term}", term=term)

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
        """Change it, so that it has another revision than any older leader knows."""
        note = {"metadata": {"annotations": {TERM: str(self._leader.term)}}}
        try:
            await self._client.patch(pod, note)
        except NotFound:
            self._client.record("is gone", pod=pod.key)
