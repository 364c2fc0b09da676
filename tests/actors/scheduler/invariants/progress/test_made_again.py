"""Room is made again for a pod only if it was lost, and the scheduler has not given it away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.framework.snapshot import Snapshot
from actors.scheduler import Decision, Scheduler
from actors.scheduler.invariants import RoomIsMadeAgainOnlyIfLost
from actors.scheduler.mutants import MUTANTS, deciding
from actors.scheduler.proving_ground import PodTerminator
from actors.scheduler.schedule_one import SchedulingLoop
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.lose_request import LoseRequest
from testbed.objects import Node, PriorityClass
from testbed.store.endpoint import Operation
from testbed.testing.mutant import hunt
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import NAME, cluster, delete, node_of, pending, there
from tests.shared.stage import Doing, play

COMES_MS, THEN_MS, GONE_MS = 1_000, 3_000, 6_000
"""When the pod comes that room is made for, when something comes between, and when its victim has
gone."""


def rooms_made(world: World, pod: str = "c") -> list[int]:
    """When room was made for a pod."""
    return [
        record.now_ms
        for record in world.table.records
        if record.name == "cycle"
        and record.facts["pod"] == f"pods/default/{pod}"
        and "chosen" in record.facts.get("preemption", {})
    ]


def one_node(
    claim: RoomIsMadeAgainOnlyIfLost,
    then: Doing | None = None,
    switches: Mapping[str, str] | None = None,
) -> World:
    """A full node. `c` needs the room of `a`, and if that is not enough, that of `b`, too; on the
    other node a more important pod would have to go."""

    async def user(client: Client) -> None:
        await client.sleep(COMES_MS)
        await client.create(pending("c", 6, 100))
        await client.sleep(THEN_MS - COMES_MS)
        if then is not None:
            await then(client)

    full = (there("a", 6, grace_s=5), there("b", 4, 50, grace_s=1))
    settings: dict[str, Any] = {"switches": switches} if switches else {}
    other = there("z", 10, 50, node="n2", grace_s=1)
    world = cluster(*full, other, nodes=2, user=user, **settings)
    world.start(PodTerminator("kubelets"))  # it would refuse no pod
    world.claim(claim)
    return world


@pytest.mark.spec("INV-25")
def test_once_is_enough() -> None:
    """Where nothing comes between; and in a crowd of small pods that come for years."""
    world = one_node(RoomIsMadeAgainOnlyIfLost())
    play(world)
    assert (rooms_made(world), node_of(world, "c")) == ([COMES_MS], "n1")
    recipe = find("starvation")

    def crowded(world: World) -> None:
        recipe.build(world, guard=True, pods=30)
        world.claim(RoomIsMadeAgainOnlyIfLost())

    world = of(crowded, "crowded").world()
    assert world.run(Calm(), driver="direct").is_held
    assert rooms_made(world, "p") == [0]


@pytest.mark.spec("INV-25", "SCH-31")
def test_a_scheduler_that_gives_the_room_away_is_found() -> None:
    """That of old, which heeds no nominations; the sentence names the pods it has put there."""
    recipe = find("starvation")

    def starved(world: World) -> None:
        recipe.build(world, guard=False, pods=30)
        world.goes_on = True
        world.limit(virtual_ms_max=100_000)
        world.claim(RoomIsMadeAgainOnlyIfLost())

    violations = of(starved, "starved").world().run(Calm(), driver="direct").violations
    (said,) = (each.said for each in violations if each.invariant.startswith("room_is_made"))
    given = " and ".join(f"pods/default/s0{n}" for n in range(1, 6))
    head = "alpha: room for pods/default/p was made 2 times, where it has put "
    assert said.startswith(f"{head}{given} since; now on n1, at the cost of pods/default/s0")
    (mutant,) = (each for each in MUTANTS if each.name == "gives-away")
    assert hunt(mutant, runs_max=5).said == (
        "alpha: room for pods/default/vip was made 2 times, where it has put pods/default/small "
        "since; now on n1, at the cost of pods/default/small"
    )


@pytest.mark.spec("INV-25", "SCH-109")
@each_row("strict", [False, True])
def test_another_schedulers_pod_is_an_excuse_unless_it_is_strict(strict: bool) -> None:
    """No scheduler heeds the nominations of another one's pods, so it makes room without end. One
    that does heed them all leaves the room alone."""
    recipe = find("preemption_loop")
    outcomes = []
    for guard in (False, True):

        def looping(world: World) -> None:
            recipe.build(world, guard=guard)  # noqa: B023
            world.goes_on = True
            world.limit(turns_max=700)
            world.claim(RoomIsMadeAgainOnlyIfLost(strict=strict))

        violations = of(looping, "looping").world().run(Calm(), driver="direct").violations
        outcomes.append(any(each.invariant.startswith("room_is_made") for each in violations))
    assert outcomes == [strict, False]


# -- what may come between ------------------------------------------------------------------------


async def important(client: Client) -> None:
    """A pod that is more important comes to the node by itself."""
    await client.create(pending("guest", 3, 1000, node_name="n1"))


async def humble(client: Client) -> None:
    """The same, of a pod that is less important."""
    await client.create(pending("guest", 3, 0, node_name="n1"))


async def shrinks(client: Client) -> None:
    """The node has less to give."""
    await resize(client, 7000)


async def vanishes(client: Client) -> None:
    """The node goes."""
    await client.ask(Operation("delete", "nodes", "n1"))


async def resize(client: Client, cpu_m: int, node: str = "n1") -> None:
    """Let the node have that much cpu."""
    status = {"status": {"allocatable": {"cpu": f"{cpu_m}m"}}}
    await client.patch(Node.of(node), status, subresource="status")


@pytest.mark.spec("INV-25")
@each_row("comes", [important, humble, shrinks, vanishes])
def test_room_is_made_again_when_it_was_lost(comes: Doing) -> None:
    """A pod that this scheduler has not put there takes it; or the node has shrunk, or is gone."""
    world = one_node(RoomIsMadeAgainOnlyIfLost(), comes)
    play(world)
    assert rooms_made(world) == [COMES_MS, GONE_MS]


@pytest.mark.spec("INV-25")
def test_a_less_important_pod_of_another_scheduler_breaks_it_if_it_is_strict() -> None:
    """And a more important one does not."""
    for comes, is_held in ((important, True), (humble, False)):
        world = one_node(RoomIsMadeAgainOnlyIfLost(strict=True), comes)
        play(world, is_held=is_held)
        assert rooms_made(world) == [COMES_MS, GONE_MS]


async def goes(client: Client) -> None:
    """A pod goes, after which others are tried again; its room is not enough."""
    await delete(client, "b", grace_s=0)


@pytest.mark.spec("INV-25", "SCH-99")
def test_room_is_made_again_when_a_delete_has_failed() -> None:
    """The preemption is broken off, and tried again when a pod goes."""
    world = one_node(RoomIsMadeAgainOnlyIfLost(), goes)
    world.allow(LoseRequest(NAME))
    lost = "delete pods/default/a"
    play(world, f"fault * lose_request *{lost}*", late=(f"serve {NAME}/main {lost}*",))
    assert rooms_made(world) == [COMES_MS, THEN_MS]


@pytest.mark.spec("INV-25", "SCH-99")
def test_a_nominated_pod_makes_room_again_when_its_preemption_was_broken_off() -> None:
    """Its informer shows where it was nominated by the decision before."""

    async def then(client: Client) -> None:
        await important(client)
        await client.sleep(9000)
        await client.create(pending("other", 0, 2000, node_name="n1"))
        await delete(client, "other", grace_s=0)

    world = one_node(RoomIsMadeAgainOnlyIfLost(strict=True), then)
    world.allow(LoseRequest(NAME))
    lost = "delete pods/default/b"
    play(world, f"fault * lose_request *{lost}*", late=(f"serve {NAME}/main {lost}*",))
    assert rooms_made(world) == [COMES_MS, GONE_MS, THEN_MS + 9000]


@pytest.mark.spec("INV-25", "SCH-112")
@each_row("nominated", ["", "n1"])
def test_room_is_made_again_when_it_was_not_to_be_seen_yet(nominated: str) -> None:
    """The watch of pods is ten seconds late, and another node grows meanwhile: so the pod is tried
    again, and its informer shows no nomination yet. Or it shows one that was there before, and no
    victim that goes."""

    async def user(client: Client) -> None:
        await client.sleep(3000)
        await resize(client, 11_000, "n2")

    full = (there("a", 10), there("z", 10, 1000, node="n2"))
    everything = {"requeue_scope": "everything"}
    pod = pending("c", 6, 100)
    pod = attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name=nominated))
    world = cluster(*full, pod, nodes=2, user=user, switches=everything)
    world.latency("watch pods", actor=NAME, deliver_ms=10_000)
    world.claim(RoomIsMadeAgainOnlyIfLost())
    play(world)
    assert rooms_made(world) == [0, 3000]


def gives_up(decision: Decision, snapshot: Snapshot) -> Decision:
    """Clear the nomination of a pod that waits for its victims."""
    is_waiting = not decision.node and decision.nominate is None
    return attrs.evolve(decision, nominate="" if is_waiting else decision.nominate)


@pytest.mark.spec("INV-25")
def test_a_nomination_that_the_scheduler_has_cleared_itself_is_no_excuse() -> None:
    """It clears it when the first of three victims is gone; so it makes room again when the second
    is, though the third is going already."""
    kind = type("GivingUp", (SchedulingLoop,), {"parts": deciding(after=gives_up)})

    def faint(world: World) -> None:
        world.serve(ApiServer)
        world.add(*(PriorityClass(f"p{value}", value=value) for value in (0, 100)))
        pods = [there(f"v{n}", 3, grace_s=3 * n) for n in (1, 2, 3)]
        world.add(Node.of("n1", cpu_m=9000), *pods, pending("c", 9, 100))
        world.start(PodTerminator("kubelets"), type("Faint", (Scheduler,), {"loop": kind})(NAME))
        world.claim(RoomIsMadeAgainOnlyIfLost())

    (violation,) = of(faint, "faint").world().run(Calm(), driver="direct").violations
    again = "room for pods/default/c was made 2 times; now on n1, at the cost of pods/default/v3"
    assert (violation.said, violation.now_ms) == (f"alpha: {again}", 6000)


@pytest.mark.spec("INV-25", "SCH-117")
@each_row(
    ("nominate", "last", "rooms"),
    [
        ("after_victims", "patch/status", 2), ("after_victims", "delete", 2),
        ("before_victims", "patch/status", 2), ("before_victims", "delete", 1),
    ],
)  # fmt: skip
def test_a_crash_while_room_is_made_lets_the_next_life_begin_anew(
    nominate: str, last: str, rooms: int
) -> None:
    """It finds no nomination, or a victim that does not go. If it finds both, it waits."""
    world = one_node(RoomIsMadeAgainOnlyIfLost(), switches={"nominate": nominate})
    world.allow(Crash(NAME, restart_after_ms=3000))
    play(world, f"serve {NAME}/main {last} pods/default/a", f"fault * crash {NAME}*")
    assert rooms_made(world) == [COMES_MS, COMES_MS + 3000][:rooms]
    assert node_of(world, "c") == "n1"


@pytest.mark.spec("INV-25", "SCH-118")
def test_a_crash_after_the_victims_went_is_no_excuse_and_needs_none() -> None:
    """The next life waits for them."""
    world = one_node(RoomIsMadeAgainOnlyIfLost())
    world.allow(Crash(NAME, restart_after_ms=3000))
    play(world, f"serve {NAME}/main patch/status pods/default/c", f"fault * crash {NAME}*")
    assert rooms_made(world) == [COMES_MS]
    assert node_of(world, "c") == "n1"
