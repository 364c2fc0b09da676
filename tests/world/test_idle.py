"""A Run in which nothing can change any more is over, whatever still looks again and again."""

from __future__ import annotations

from testbed import Client, Evidence, World, always, eventually, quiescent
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.errors import Unavailable
from testbed.faults.crash import Crash
from testbed.invariant import TURN, Invariant
from testbed.objects import Lease, LeaseSpec, Note
from testbed.store.endpoint import Handler, Operation
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.option import RESUME, Choice, HoldBack, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.verdict import Verdict
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet


def world_of(**actors: Doing) -> World:
    """A World with one note, and actors that do that."""
    world = World("test")
    world.add(Note("n").saying(a="0"))
    world.start(*(Puppet(name, run) for name, run in actors.items()))
    return world


def calm(world: World) -> Verdict:
    """Its calm run."""
    return world.run(Calm(), driver="direct")


def looks(every_ms: int, *, mends: bool = True) -> Doing:
    """Looks at the note that often, and puts it back to what it should say."""

    async def run(client: Client) -> None:
        while True:
            seen = await client.get(Note, "n")
            if mends and seen.data["a"] != "0":
                client.record("mends")
                await client.update(seen.saying(a="0"))
            await client.sleep(every_ms, "look")

    return run


def spoils(at_ms: int) -> Doing:
    """Changes the note at that time."""

    async def run(client: Client) -> None:
        await client.sleep(at_ms, "spoil")
        client.record("spoils")
        await client.update((await client.get(Note, "n")).saying(a="1"))

    return run


# -- what comes to rest -------------------------------------------------------------------------


def test_who_looks_again_and_again_comes_to_rest() -> None:
    """Each by itself, with periods that have no small multiple in common."""
    verdict = calm(world_of(a=looks(1000), b=looks(700), c=spoils(3500)))
    assert (verdict.outcome, verdict.end) == ("held", "quiet")
    assert verdict.virtual_ms < 9_000
    assert verdict.note == (
        "Idle from 4,000 ms on: a looks every 1,000 ms and b looks every 700 ms, and nothing "
        "changes."
    )


@each_row("seed", range(5))
def test_it_does_under_every_chooser(seed: int) -> None:
    """Whatever is late, or asked first."""
    world = world_of(a=looks(1000), b=looks(700), c=spoils(3500))
    verdict = world.run(Uniform(seed), driver="direct")
    assert verdict.end in ("quiet", "violated")
    assert verdict.virtual_ms < 60_000


def test_a_cache_that_is_looked_at_again_and_again_is_no_reason_to_go_on() -> None:
    """Nor are the bookmarks that it still gets."""

    async def run(client: Client) -> None:
        cache = Cache(client, Note)
        await cache.synced()
        while True:
            assert len(cache.all()) == 1
            await client.sleep(1000)

    assert calm(world_of(a=run)).virtual_ms < 10_000


def test_a_long_timer_is_waited_for() -> None:
    """Whoever waits for one may yet change something."""
    world = world_of(a=looks(1000), c=spoils(300_000))
    calm(world)
    assert told(world) == [("spoils", 300_000), ("mends", 301_000)]


def test_a_timer_in_the_background_is_not() -> None:
    """Its actor has said so; where the Run is judged up to a time, it goes off up to then."""

    async def run(client: Client) -> None:
        while True:
            await client.sleep(60_000, "resync", idle=True)
            client.record("resynced")

    assert calm(world_of(a=run)).virtual_ms == 0
    world = world_of(a=run)
    world.limit(until_ms=200_000)
    calm(world)
    assert len(world.table.records) == 3


# -- what does not ------------------------------------------------------------------------------


async def by_the_clock(client: Client) -> None:
    """Acts when a minute has passed by its clock."""
    while client.now() < 60_000:
        await client.sleep(1000)
    client.record("acts")
    await client.update((await client.get(Note, "n")).saying(a="late"))


async def by_a_count(client: Client) -> None:
    """Acts at its thirtieth look."""
    for _ in range(30):
        await client.sleep(1000)
    client.record("acts")
    await client.update((await client.get(Note, "n")).saying(a="late"))


async def by_a_lot(client: Client) -> None:
    """Acts as soon as the Chooser picks so."""
    while client.pick("what", ["nothing", "act"]) == "nothing":
        await client.sleep(1000)
    client.record("acts")
    await client.update((await client.get(Note, "n")).saying(a="late"))


async def by_two_tasks(client: Client) -> None:
    """One task counts, the other acts."""
    count = [0]

    async def counts() -> None:
        while True:
            await client.sleep(1000)
            count[0] += 1

    client.spawn("counts", counts)
    while count[0] < 20:
        await client.sleep(500)
    client.record("acts")
    await client.update((await client.get(Note, "n")).saying(a="late"))


@each_row("run", [by_the_clock, by_a_count, by_two_tasks])
def test_who_will_act_is_waited_for(run: Doing) -> None:
    """Though nothing has changed for long, and others go round meanwhile."""
    world = world_of(a=looks(700, mends=False), b=run)
    calm(world)
    assert [what for what, _ in told(world)] == ["acts"]


def test_who_picks_is_never_idle() -> None:
    """It may pick otherwise next time."""
    world = world_of(b=by_a_lot)
    world.limit(virtual_ms_max=20_000)
    verdict = calm(world)
    assert verdict.outcome == "undecided"
    assert "; b picks. To judge it up to a time" in verdict.end


class Tiring(StoreEndpoint):
    """Serves fifty requests."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.left = 50

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        self.left -= 1
        if self.left < 0:
            raise Unavailable("it is tired")
        return (yield from super().handle(operation, caller, now_ms))


def test_an_endpoint_that_counts_keeps_all_awake() -> None:
    """It may answer otherwise at the fiftieth request."""
    world = World("test")
    world.serve(Tiring)
    world.add(Note("n").saying(a="0"))
    world.start(Puppet("a", looks(1000)))
    assert not calm(world).is_held
    assert world.table.now_ms >= 49_000


class Forgets(Invariant):
    """Breached when the time has come, whatever is written."""

    name = "forgets"
    looks_at = frozenset({TURN})

    def look(self, step: object, evidence: Evidence) -> str | None:
        return "too late" if evidence.now_ms > 30_000 else None


def test_a_claim_that_reads_the_time_is_waited_for() -> None:
    """It is breached in its time, and with its own words."""
    for claim, said in (
        (Forgets(), "too late"),
        (eventually(never, within_ms=20_000), "not yet, 20000 ms after the last fault"),
    ):
        world = world_of(a=looks(1000))
        world.claim(claim)
        verdict = calm(world)
        assert [violation.said for violation in verdict.violations] == [said]
        assert verdict.virtual_ms > 20_000


def never(_: Evidence) -> str:
    """Never comes true."""
    return "not yet"


def few_records(see: Evidence) -> str | None:
    """No more than ten records."""
    return "too many" if len(see.records) > 10 else None


def test_what_is_recorded_again_and_again_counts_only_for_who_reads_it() -> None:
    """A claim that counts records is waited for; another is not."""

    async def run(client: Client) -> None:
        while True:
            client.record("looked")
            await client.sleep(1000)

    world = world_of(a=run)
    world.claim(always(few_records))
    assert calm(world).outcome == "violated"
    world = world_of(a=run)
    world.claim(quiescent(lambda _: None))
    assert calm(world).virtual_ms < 9_000


def test_a_fault_may_strike_where_it_would_end() -> None:
    """As at any rest."""
    faults = set()
    for seed in range(20):
        world = world_of(a=looks(1000))
        world.allow(Crash("a", restart_after_ms=500))
        verdict = world.run(Uniform(seed), driver="direct")
        assert verdict.end == "quiet"
        faults.add(verdict.faults)
    assert faults == {0, 1}


def told(world: World) -> list[tuple[str, int]]:
    """What was recorded, and when."""
    return [(record.name, record.now_ms) for record in world.table.records]


class HoldsForEver(Chooser):
    """Holds back for ever what wakes a worker, from its second item on."""

    def __init__(self) -> None:
        self.seen = 0

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("held")

    def choose(self, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives):
            return 0
        if not options.ready:
            return Release(0)
        for index, option in enumerate(options.in_line()):
            if option.kind == RESUME and option.verb == "queue look/work":
                self.seen += 1
                if self.seen == 2:
                    return HoldBack(index)
        return 0


def test_how_late_it_is_keeps_nobody_awake_who_is_held() -> None:
    """A worker that is not woken for ever, beside a resync of its own: nothing changes."""

    async def run(client: Client) -> None:
        work = client.queue("work", idle=True)

        async def resync() -> None:
            while True:
                if not len(work):
                    work.put("n")
                await client.sleep(1_000, "resync")

        client.spawn("resync", resync)
        while True:
            await client.get(Note, await work.get())
            client.record("looked")

    world = world_of(look=run)
    chooser = HoldsForEver()
    verdict = world.run(chooser, driver="direct")
    assert chooser.seen >= 2
    assert verdict.is_held
    assert verdict.turns < 100


class Nothing:
    """Remembers nothing: what its actor does depends on its Cache alone, and on the time."""

    def digest(self, now_ms: int) -> object:
        """Nothing."""
        return None


async def follows_a_lease(client: Client) -> None:
    """Looks at the Lease every second, and never at a clock."""
    leases = Cache(client, Lease)
    await leases.synced()
    while True:
        assert len(leases.all()) == 1
        await client.sleep(1_000)


async def waits_for_its_end(client: Client) -> None:
    """Acts when the Lease was renewed half a minute ago."""
    leases = Cache(client, Lease)
    await leases.synced()
    client.show("memory", Nothing())
    acted = False
    while True:
        renewed_ms = leases.all()[0].spec.renewed_ms or 0
        if not acted and client.now() - renewed_ms > 30_000:
            acted = True
            await client.update((await client.get(Note, "n")).saying(a="taken"))
        await client.sleep(1_000)


def test_how_long_ago_it_was_counts_for_who_reads_a_clock_also_beside_one_who_does_not() -> None:
    """Both have the same Lease in their Caches, and whoever reads no clock is looked at first."""
    world = world_of(a=waits_for_its_end, b=follows_a_lease)
    world.add(Lease("l", spec=LeaseSpec("x", renewed_ms=0)))
    assert calm(world).is_held
    assert world.table.now_ms > 30_000
