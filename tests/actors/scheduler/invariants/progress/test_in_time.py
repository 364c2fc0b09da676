"""A pod that room was made for is placed in time, by what its scheduler was told and when."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants import WhoHasRoomIsPlacedInTime
from actors.scheduler.mutants import MUTANTS, NeverFlushes, queueing
from actors.scheduler.proving_ground import PodTerminator
from actors.scheduler.schedule_one import SchedulingLoop
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.faults.stall import Stall
from testbed.objects import Node, PriorityClass
from testbed.races.playing import play as play_race
from testbed.races.racefile import parse
from testbed.testing.mutant import hunt
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import NAME, cluster, delete, node_of, pending, there
from tests.shared.stage import Doing, Puppet, play

COMES_MS = 1_000
LATE = """
scenario: starvation
switches: {guard: on, pods: 12}
holds:
  - hold: delivery of DELETED pods/default/v5 to alpha
    until: user create pods/default/s11
"""


def waiting(claim: WhoHasRoomIsPlacedInTime, *then: tuple[int, Doing], **given: Any) -> World:
    """A full node; room is made at a second, and the victims have gone at four and at five."""
    world = World("waiting")
    fill(world, claim, *then, **given)
    return world


def fill(
    world: World,
    claim: WhoHasRoomIsPlacedInTime,
    *then: tuple[int, Doing],
    loop: type[SchedulingLoop] = SchedulingLoop,
    **switches: str,
) -> None:
    """Fill a World with that."""

    async def user(client: Client) -> None:
        await client.sleep(COMES_MS)
        await client.create(pending("c", 10, 100))
        for after_ms, do in then:
            await client.sleep(after_ms)
            await do(client)

    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in (0, 100, 1000)))
    world.add(Node.of("n1", cpu_m=10_000), there("a", 5, grace_s=3), there("b", 5, grace_s=4))
    kind = type("Looping", (Scheduler,), {"loop": loop})
    world.start(Puppet("user", user), kind(NAME, switches=switches))
    world.start(PodTerminator("kubelets"))
    world.claim(claim)


def bound_ms(world: World, name: str) -> int:
    """When a pod was bound."""
    (at_ms,) = (
        record.now_ms
        for record in world.table.records
        if record.name == "bound" and record.facts["pod"] == f"pods/default/{name}"
    )
    return at_ms


@pytest.mark.spec("INV-23")
@each_row("profile", ["seed", "k8s-1.26", "k8s-modern"])
def test_where_its_room_is_kept_a_pod_has_it_when_the_last_victim_has_gone(profile: str) -> None:
    """The golden table of starvation: at fifty seconds, and no small pod before."""
    assert _said_of_starvation(guard=True, profile=profile) == []


@pytest.mark.spec("INV-23", "SCH-31")
def test_where_its_room_is_given_away_it_is_late() -> None:
    """All first victims have gone at fifty seconds, and others have their room."""
    (said,) = _said_of_starvation(guard=False, profile="alpha")
    room = "room was made for pods/default/p on n1, and its victims are gone"
    # That it makes room once more, at 63 seconds, does not let time start anew.
    assert said == f"alpha: {room}; it has no node 15,000 ms later"


def _said_of_starvation(*, guard: bool, profile: str) -> list[str]:
    recipe = find("starvation")

    def starving(world: World) -> None:
        recipe.build(world, guard=guard, pods=30)
        world.goes_on = True
        world.limit(virtual_ms_max=120_000)
        world.claim(WhoHasRoomIsPlacedInTime())

    world = of(starving, "starving").world({"scheduler.profile": profile})
    violations = world.run(Calm(), driver="direct").violations
    return [each.said for each in violations if each.invariant == WhoHasRoomIsPlacedInTime.name]


@pytest.mark.spec("INV-23")
def test_a_pod_that_is_not_told_that_its_victims_are_gone_is_found_at_rest() -> None:
    """Its scheduler has heard of it, and lets it wait."""
    (mutant,) = (each for each in MUTANTS if each.name == "sleeps")
    killed = hunt(mutant, runs_max=5)
    room = "room was made for pods/default/vip on n1, and its victims are gone"
    assert killed.said == f"alpha: {room}; it still waits when nothing moves any more"


async def comes(client: Client) -> None:
    """Another pod, which fits nowhere."""
    await client.create(pending("", 20).with_meta(name="", generate_name="other-"))


async def rival(client: Client) -> None:
    """The same, of a pod that is more important."""
    await client.create(pending("", 20, 1000).with_meta(name="", generate_name="rival-"))


@pytest.mark.spec("INV-23")
def test_a_pod_that_backs_off_for_ever_is_found_while_others_are_tried() -> None:
    """At the second turn of its scheduler that comes more than eleven seconds after it was told."""
    loop = type("Loop", (SchedulingLoop,), {"parts": queueing(NeverFlushes)})
    others: list[tuple[int, Doing]] = [(6500, comes)] * 4
    world = waiting(WhoHasRoomIsPlacedInTime(), *others, loop=loop)
    (violation,) = play(world, is_held=False).verdict.violations
    room = "room was made for pods/default/c on n1, and its victims are gone"
    assert violation.said == f"{NAME}: {room}; it has no node 22,000 ms later"
    assert violation.now_ms == COMES_MS + 4 * 6500
    still = waiting(WhoHasRoomIsPlacedInTime(), *others)
    play(still)
    assert bound_ms(still, "c") == 6000


@pytest.mark.spec("INV-23")
def test_what_its_scheduler_is_not_told_does_not_count() -> None:
    """The news that the last victim has gone is held back for a minute; it is placed at once then,
    and nobody is to blame before."""
    recipe = find("starvation")

    def starving(world: World, *, guard: bool = False, pods: int = 3) -> None:
        recipe.build(world, guard=guard, pods=pods)
        world.claim(WhoHasRoomIsPlacedInTime(within_ms=1000))

    played = play_race(parse(LATE, "late"), of(starving, "starvation"))
    assert played.verdict.is_held, str(played.verdict)
    assert bound_ms(played.world, "p") == 105_000


HELD = """
scenario: waiting
holds:
  - hold: turn of alpha/main#7
    until: user create pods/default/late
"""


@pytest.mark.spec("INV-23")
def test_a_turn_of_the_scheduler_that_is_held_back_does_not_count() -> None:
    """For a minute the scheduler takes no pod from its queue, and hears of others meanwhile."""

    async def late(client: Client) -> None:
        await client.create(pending("late", 20))

    def held(world: World) -> None:
        others: list[tuple[int, Doing]] = [(6500, comes)] * 10
        fill(world, WhoHasRoomIsPlacedInTime(), *others, (0, late))

    played = play_race(parse(HELD, "held"), of(held, "waiting"))
    assert played.verdict.is_held, str(played.verdict)
    assert bound_ms(played.world, "c") == 66_000


@pytest.mark.spec("INV-23")
@each_row(("cycle_ms", "at_ms"), [("0", 6000), ("3000", 31_500)])
def test_the_cycles_of_other_pods_do_not_count(cycle_ms: str, at_ms: int) -> None:
    """Six pods that are more important, and fit nowhere, are tried before it, for three seconds
    each."""
    rivals: list[tuple[int, Doing]] = [(3500, rival), *[(0, rival)] * 5]
    world = waiting(WhoHasRoomIsPlacedInTime(), *rivals, cycle_ms=cycle_ms)
    play(world)
    assert bound_ms(world, "c") == at_ms


@pytest.mark.spec("INV-23")
def test_a_stall_does_not_count() -> None:
    """The scheduler stands still for a minute, just when it was told."""
    world = waiting(WhoHasRoomIsPlacedInTime(within_ms=1000), (5500, comes))
    world.allow(Stall(NAME, by_ms=60_000))
    play(world, f"deliver {NAME}/watch-pods pods/default/b DELETED", f"fault * stall {NAME}*")
    assert bound_ms(world, "c") > 60_000


@pytest.mark.spec("INV-23")
def test_nothing_is_claimed_of_a_pod_that_is_gone() -> None:
    """Its user gives up while it waits; and where its node keeps its victim, nothing is either."""

    async def gives_up(client: Client) -> None:
        await delete(client, "c")

    world = waiting(WhoHasRoomIsPlacedInTime(within_ms=0), (2000, gives_up), *[(9000, comes)] * 3)
    play(world)
    down = cluster(there("a", 10), pending("c", 10, 100))
    down.claim(WhoHasRoomIsPlacedInTime(within_ms=0))
    play(down)
    assert node_of(down, "c") == ""
