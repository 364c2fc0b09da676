"""Workers: two elect a leader by a Lease, which is renewed for ever, and one at a time may work."""

from __future__ import annotations

import attrs

from testbed import Actor, ApiError, Cache, Client, Evidence, NotFound, World, always
from testbed.faults.stall import Stall
from testbed.objects import Lease, LeaseSpec, Note
from tests.never_rest.frame import WorkQueue

TTL_MS, RENEW_MS, RESYNC_MS, CALL_MS = 15_000, 5_000, 10_000, 2_000


class Election:
    """One worker in the election: it takes a Lease that is free or was not renewed for its time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seen = LeaseSpec()
        self._seen_ms = 0
        self.leads = client.signal("leads")

    async def run(self) -> None:
        """Try to hold the Lease, for ever."""
        client = self._client
        while True:
            try:
                await self._try()
            except ApiError:
                self.leads.clear()
            await client.sleep(RENEW_MS, "renew")

    async def _try(self) -> None:
        client = self._client
        now_ms = client.now()
        try:
            lease = await client.get(Lease, "workers")
        except NotFound:
            lease = Lease("workers")
        spec = lease.spec
        if spec != self._seen:
            self._seen, self._seen_ms = spec, client.elapsed()
        if spec.holder not in ("", client.name) and client.elapsed() - self._seen_ms < TTL_MS:
            self.leads.clear()
            return
        terms = (spec.transitions or 0) + (spec.holder != client.name)
        held = LeaseSpec(client.name, TTL_MS // 1_000, now_ms, now_ms, terms)
        mine = attrs.evolve(lease, spec=held)
        await (client.update(mine) if lease.meta.revision else client.create(mine))
        self.leads.set()


@attrs.frozen
class Worker(Actor):
    """Charges for each job, while it leads. With `guard` it first writes into the job, as it knows
    it, that it does so."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at jobs while it leads."""
        election, jobs, queue = Election(client), Cache(client, Note), WorkQueue(client)
        charged: set[str] = set()
        client.spawn("election", election.run)
        queue.follow(jobs)
        client.spawn("resync", queue.resync, jobs, RESYNC_MS)

        async def reconcile(name: str) -> None:
            job = jobs.get(name)
            if job is None or "done" in job.data or not election.leads.is_set:
                return
            if self.guard:
                await client.update(job.saying(done=client.name))
            if name not in charged:
                await client.sleep(CALL_MS, "call the bank")
                charged.add(name)
                client.record("charges", job=name)
            if not self.guard:
                await client.update(job.saying(done=client.name), whatever_it_was=True)

        await queue.work(reconcile)


@attrs.frozen
class Shop(Actor):
    """Orders one job after another."""

    async def run(self, client: Client) -> None:
        """Order three."""
        for number in range(3):
            await client.sleep(12_000, "order")
            await client.create(Note(f"job-{number}"))


def each_job_is_charged_once(see: Evidence) -> str | None:
    """Nobody pays twice."""
    charged = [each.facts["job"] for each in see.records if each.name == "charges"]
    twice = [job for job in charged if charged.count(job) > 1]
    return f"notes/default/{twice[0]} was charged twice" if twice else None


def workers(world: World, *, guard: bool = False) -> None:
    """A leader that was deposed does a job that the next one does as well."""
    world.start(Worker("ann", guard), Worker("ben", guard), Shop("shop"))
    world.claim(always(each_job_is_charged_once))
    world.allow(Stall("ann", by_ms=20_000))
    world.limit(until_ms=60_000)
