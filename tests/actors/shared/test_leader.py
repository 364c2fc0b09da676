"""Leader: one at a time by the lease, and, of those that are sure of it, one at a time for sure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from actors.shared.leader import LEASE_MS, Leader
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.clock_step import ClockStep
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from testbed.invariant import Evidence, always
from testbed.objects import Lease
from testbed.world.world import World
from tests.shared.stage import Puppet, play, world_of

LEADS_S = 45
Says = list[tuple[int, str, Any]]


def replica(said: Says, act: Callable[[Leader], bool] = lambda leader: leader.is_sure) -> Any:
    """One that leads when it may, and acts each second in which it thinks it can, for a minute."""

    async def run(client: Client) -> None:
        leader = Leader(client, "lead")
        await leader.lead()
        said.append((client.elapsed(), client.name, leader.term))
        keeping = client.spawn("keep", leader.keep)
        while not keeping.has_ended and client.elapsed() < LEADS_S * 1000:
            if act(leader):
                client.record("acts", term=leader.term)
            await client.sleep(1000)
        said.append((client.elapsed(), client.name, "stops"))
        if not keeping.has_ended:
            client.cancel(keeping)

    return run


def lease_in(world: World) -> Lease:
    """The lease as it is."""
    entry: Any = world.store.peek("leases/kube-system/lead")
    lease: Lease = entry.value
    return lease


def terms_never_fall(see: Evidence) -> str | None:
    """A leader that acts for a term does so before another acts for a later one."""
    last = 0
    for record in see.records:
        if record.facts["term"] < last:
            return f"somebody acts for term {record.facts['term']} after one has for {last}"
        last = record.facts["term"]
    return None


@pytest.mark.spec("SCH-6")
def test_one_leads_and_when_it_crashes_the_other_does_after_fifteen_seconds() -> None:
    """The lease is as Kubernetes writes it: its transitions count how often it changed hands."""
    said: Says = []
    world = world_of(alpha=replica(said), beta=replica(said))
    world.allow(Crash("alpha"))
    played = play(world, "wake alpha/main sleep#3", "fault * crash alpha")
    assert [who for _, who, what in said if what != "stops"] == ["alpha", "beta"]
    assert [what for *_, what in said if what != "stops"] == [0, 1]
    began, took_over = (at for at, _, what in said if what != "stops")
    crashed = played.only("fault * crash alpha").now_ms
    assert took_over - began >= LEASE_MS
    assert took_over - crashed <= LEASE_MS + 2000
    spec = lease_in(world).spec
    assert (spec.holder, spec.duration_s, spec.transitions) == ("beta_1", 15, 1)


@pytest.mark.spec("SCH-6")
def test_who_cannot_renew_for_ten_seconds_leads_no_more_before_another_can() -> None:
    """Cut off for a minute, it stops by its own clock; the other takes the lease after that."""
    said: Says = []
    world = world_of(alpha=replica(said), beta=replica(said))
    world.allow(Partition("alpha", for_ms=40_000))
    play(world, "wake alpha/main sleep#3", "fault * partition alpha")
    (stopped,) = (at for at, who, what in said if (who, what) == ("alpha", "stops"))
    (took_over,) = (at for at, who, what in said if (who, what) == ("beta", 1))
    assert stopped <= took_over
    assert stopped <= 3000 + 2000 + 10_000


@pytest.mark.spec("SCH-6")
def test_a_renewal_that_failed_is_tried_again_at_the_next_tick() -> None:
    """Ticks come every two seconds from the beginning of the renewal; one that comes while a try is
    under way is lost. Renewals begin two seconds after the last has ended."""
    said: Says = []
    world = world_of(alpha=replica(said))
    world.allow(Partition("alpha", for_ms=9000))
    played = play(world, "wake alpha/keep renew lease", "fault * partition alpha")
    woken = [f"{step.now_ms} {step.option.verb}" for step in played.every("wake alpha/keep *")]
    assert woken[:4] == [
        "2000 renew lease", "7000 timeout of get leases/kube-system/lead", "8000 retry lease",
        "13000 renew lease",
    ]  # fmt: skip


@pytest.mark.spec("SCH-6")
def test_a_lease_that_was_given_up_is_taken_at_once() -> None:
    """And only the clock of the replica that sees it counts, so it may be from the far past."""
    took: list[int] = []

    async def alpha(client: Client) -> None:
        leader = Leader(client, "lead")
        await leader.lead()
        assert (leader.is_leading, leader.is_sure) == (True, True)
        await client.sleep(1000)
        await leader.release()
        assert (leader.is_leading, leader.is_sure) == (False, False)

    async def beta(client: Client) -> None:
        await client.sleep(500)
        leader = Leader(client, "lead")
        await leader.lead()
        took.append(client.elapsed())

    world = world_of(alpha=alpha, beta=beta)
    world.allow(ClockStep("alpha", by_ms=-3_600_000))
    play(world, "fault * clock_step alpha")
    assert took == [2500]


def elections(act: Callable[[Leader], bool]) -> World:
    """Three replicas, and all that may happen to one that leads."""
    world = World("elections")
    world.start(*(Puppet(name, replica([], act)) for name in ("alpha", "beta", "gamma")))
    world.allow(
        Stall("*", by_ms=20_000), Partition("*", for_ms=20_000), LoseReply("*"),
        Crash("*", restart_after_ms=1000), ClockStep("*", by_ms=-30_000),
    )  # fmt: skip
    world.claim(always(terms_never_fall))
    return world


@pytest.mark.spec("SCH-6")
def test_of_those_that_are_sure_there_is_never_more_than_one() -> None:
    """Whatever happens to them, a replica that asks `is_sure` in the same turn acts for a term that
    is the latest so far. One that goes by the lease it last saw does not."""
    broken = {"sure": 0, "leading": 0}
    for seed in range(80):
        for how, act in (
            ("sure", lambda leader: leader.is_sure), ("leading", lambda leader: leader.is_leading),
        ):  # fmt: skip
            verdict = elections(act).run(Uniform(seed), driver="direct")
            broken[how] += verdict.is_violated
            assert verdict.among_others != "undecided", str(verdict)
    assert broken["sure"] == 0
    assert broken["leading"] > 5


def test_a_lease_that_somebody_else_was_quicker_to_make_is_not_taken() -> None:
    """Both have found none; the one that creates it later is refused, and waits."""
    said: Says = []
    world = world_of(alpha=replica(said), beta=replica(said))
    play(world, late=("answer alpha/main get *", "serve alpha/main create *"))
    assert [who for _, who, what in said if what == 0] == ["beta"]


def test_who_hears_late_of_a_renewal_is_not_sure_for_longer() -> None:
    """It counts from when it was sent: stalled from then on, it acts no more when it wakes."""
    said: Says = []
    world = world_of(alpha=replica(said), beta=replica(said))
    world.allow(Stall("alpha", by_ms=20_000))
    world.claim(always(terms_never_fall))
    renewal = "alpha/keep update leases/kube-system/lead#3"
    played = play(world, f"serve {renewal}", "fault * stall alpha", f"answer {renewal}")
    assert played.only(f"answer {renewal}").now_ms == 24_000
    assert ("beta", 1) in [(who, what) for _, who, what in said]
