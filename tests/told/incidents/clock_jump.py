"""Clock jump: two replicas elect a leader by the time that stands in a lease; the clock of one is
set forward, and both lead (kubernetes/kubernetes#125761)."""

from __future__ import annotations

import attrs

from testbed import Actor, ApiError, Client, Evidence, NotFound, World, always
from testbed.faults.clock_step import ClockStep
from testbed.objects import Lease, LeaseSpec
from tests.told.frame import Told

TTL_MS, RENEW_MS = 15_000, 5_000


@attrs.frozen
class Replica(Actor):
    """Takes a lease that is over, and works as long as it is its own. With `guard` it measures
    with a clock that is never set how long the lease has not changed."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Renew or look, for ever."""
        seen, since_ms = LeaseSpec(), 0
        while True:
            try:
                lease = await client.get(Lease, "leader")
            except NotFound:
                lease = Lease("leader")
            if lease.spec != seen:
                seen, since_ms = lease.spec, client.elapsed()
            age_ms = client.now() - (lease.spec.renewed_ms or 0)
            if self.guard:
                age_ms = client.elapsed() - since_ms
            if lease.spec.holder in ("", client.name) or age_ms > TTL_MS:
                now_ms = client.now()
                mine = LeaseSpec(client.name, TTL_MS // 1_000, now_ms, now_ms, 0)
                taken = attrs.evolve(lease, spec=mine)
                try:
                    await (client.update(taken) if lease.meta.revision else client.create(taken))
                    client.record("works", until_ms=client.elapsed() + TTL_MS)
                except ApiError:
                    client.record("lost the lease")
            await client.sleep(RENEW_MS, "renew")


def one_works_at_a_time(see: Evidence) -> str | None:
    """No replica begins to work while another one may still do so."""
    until: dict[str, int] = {}
    for each in see.records:
        if each.name == "works":
            until[each.path.partition("/")[0]] = each.facts["until_ms"]
    working = [name for name, until_ms in until.items() if until_ms > see.now_ms]
    return f"{' and '.join(working)} work at the same time" if len(working) > 1 else None


def clock_jump(world: World, *, guard: bool = False) -> None:
    """A clock is set while the other replica leads."""
    world.start(Replica("blue", guard), Replica("red", guard))
    world.claim(always(one_works_at_a_time))
    world.allow(ClockStep("red", by_ms=60_000))
    world.limit(until_ms=40_000)


TRUE = Told(
    clock_jump,
    race="""
faults:
  - clock_step: red
    at: 7s
    by: 60s
""",
    actor="red",
    about=("leases/default/leader", "lease"),
    words=("clock",),
    never=("^blue",),
    said=(
        "red took leases/default/leader while blue held it: its clock had been set 60 s "
        "forward, so the lease seemed to be over."
    ),
)

ALSO = (
    TRUE.also(
        "back",
        """
faults:
  - clock_step: blue
    at: 7s
    by: -60s
""",
        "red took leases/default/leader while blue held it: blue's clock had been set 60 s back, "
        "so by what blue writes there the lease seemed to be over.",
        actor=("red", "blue"),
        never=(),
    ),
)
