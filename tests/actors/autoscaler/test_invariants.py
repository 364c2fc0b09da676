"""The claims about autoscalers: they hold of it, each is violated, and each kills its mutants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.invariants import NoGroupOscillates, autoscaler_claims, departure_claims
from actors.autoscaler.mutants import MUTANTS
from actors.autoscaler.proving_grounds.departing_nodes import departing_nodes
from actors.autoscaler.proving_grounds.growing_cluster import growing_cluster
from actors.cloud import NodeGroup, join_cloud
from actors.shared.node_groups import delete_nodes, increase
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import Map, Node, Object, Pod, ReplicationController
from testbed.testing.mutant import Mutant, hunt
from testbed.testing.seek import choosers
from testbed.turns.found import ROUND, About
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet


@pytest.mark.spec("INV-34", "INV-35", "INV-36", "INV-37")
@pytest.mark.parametrize("ground", [departing_nodes, growing_cluster])
@pytest.mark.parametrize("runs_max", [4, pytest.param(2000, marks=pytest.mark.long)])
def test_what_is_claimed_of_autoscalers_holds(
    ground: Callable[[World], None], runs_max: int
) -> None:
    """Whatever is late."""
    wrong: list[str] = []

    def build(world: World) -> None:
        ground(world)

    def look(world: World) -> bool:
        assert world.verdict is not None
        wrong.extend([] if world.verdict.is_held else [str(world.verdict)])
        return not wrong

    for chooser, most in ((Calm(), 1), *choosers(runs_max, 0)):
        play_runs(of(build, ground.__name__), chooser, look, runs_max=most, driver="direct")
    assert wrong == []


@pytest.mark.spec("INV-34", "INV-35", "INV-36", "INV-37", "INV-38")
@each_row("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_claim_finds_its_mutants(mutant: Mutant) -> None:
    """In the calm run."""
    assert hunt(mutant, runs_max=1, seed=0, switches=None).is_killed


def test_every_claim_kills_a_mutant() -> None:
    """But the one that reports, and needs somebody who lets a group swing."""
    killers = {mutant.claim for mutant in MUTANTS}
    assert {claim.name for claim in autoscaler_claims()} - killers == {"no_group_oscillates"}


# -- a group that swings --------------------------------------------------------------------------


class Swinging(Autoscaler):
    """Stands for an autoscaler that adds a node, takes it away and adds it again."""

    async def run(self, client: Client) -> None:
        await increase(client, "g", 1)
        await client.sleep(1000)
        await delete_nodes(client, "g", ("g-2",))
        await client.sleep(1000)
        await increase(client, "g", 1)


def swinging(*, strict: bool, wish: Object | None = None) -> World:
    """A cloud with that autoscaler; and somebody who creates what is wished for, or nobody."""
    world = World("swinging")
    world.serve(ApiServer)
    join_cloud(world, NodeGroup("g", max_size=3, target=1, template=Node.of("any", cpu_m=1000)))
    world.start(Swinging(switches=Map(events="off", status="off")))

    async def creates(client: Client) -> None:
        await client.sleep(1500)
        if wish is not None:
            await client.create(wish)

    if wish is not None:
        world.start(Puppet("ann", creates))
    world.claim(NoGroupOscillates(strict=strict))
    world.run(Calm())
    return world


@pytest.mark.spec("INV-38")
def test_a_group_that_swings_is_reported() -> None:
    """In the note of the Verdict; and it is a breach, if that is what is claimed."""
    verdict = swinging(strict=False).verdict
    assert verdict is not None
    assert verdict.is_held
    assert "G grew, shrank and grew again" in verdict.note
    strict = swinging(strict=True).verdict
    assert strict is not None
    (breach,) = strict.violations
    assert breach.invariant == "no_group_oscillates"
    assert (breach.about, breach.reason) == (About("nodegroups/g"), ROUND)


@pytest.mark.spec("INV-38")
@each_row("wish", [Pod.of("p"), ReplicationController("rc")], ids=lambda wish: wish.kind)
def test_a_group_that_follows_wishes_does_not_swing(wish: Object) -> None:
    """Somebody has created a pod, or what makes pods, between the deletion and the node that comes
    again."""
    verdict = swinging(strict=True, wish=wish).verdict
    assert verdict is not None
    assert verdict.is_held


# -- pods that give way to everything -------------------------------------------------------------


def with_a_lesser_pod(priority: int, cutoff: int) -> World:
    """A node that nothing needs but a pod of that priority, which no drain moves."""
    world = World("lesser")
    world.serve(ApiServer)
    join_cloud(world, NodeGroup("g", max_size=1, target=1, template=Node.of("any", cpu_m=1000)))
    world.add(Pod.of("spare", cpu_m=100, node_name="g-1", priority=priority))
    settings = AutoscalerSettings(unneeded_time_ms=20_000)
    switches = Map(events="off", status="off", expendable_cutoff=str(cutoff))
    world.start(Autoscaler(settings=settings, switches=switches))
    world.claim(*departure_claims(settings))
    world.limit(virtual_ms_max=90_000)
    world.run(Calm())
    return world


@pytest.mark.spec("INV-37", "CA-12")
@each_row(("priority", "cutoff"), [(-20, -10), (-5, 0)])
def test_a_node_may_go_with_pods_below_the_cutoff(priority: int, cutoff: int) -> None:
    """Below the cutoff that is in force: the claim asks the switch, as the autoscaler does."""
    world = with_a_lesser_pod(priority, cutoff)
    machine: Any = world.store.peek("cloudinstances/g-1")
    assert machine is None or machine.value.gone_ms is not None
    assert world.verdict is not None
    assert not world.verdict.violations


# -- a minimum that only the provider keeps -------------------------------------------------------


@pytest.mark.spec("INV-35")
@each_row(("keeps_min", "left"), [(False, 0), (True, 1)])
def test_parallel_drains_may_take_a_group_below_its_minimum(keeps_min: bool, left: int) -> None:
    """Each of two empty nodes may go, as its group has one more than it needs: so both do, unless
    the provider refuses the second (CA-27). The other planner counts them together."""
    for is_parallel, then in ((True, left), (False, 1)):
        world = World("minimum")
        world.serve(ApiServer)
        template = Node.of("any", cpu_m=1000, memory=1000)
        group = NodeGroup("g", min_size=1, target=2, template=template, keeps_min=keeps_min)
        join_cloud(world, group)
        settings = AutoscalerSettings(unneeded_time_ms=20_000, parallel_drain=is_parallel)
        quiet = Map(events="off", status="off")
        world.start(Autoscaler(settings=settings, switches=quiet))
        world.limit(virtual_ms_max=60_000)
        world.run(Calm())
        found = world.store.peek("nodegroups/g")
        assert found is not None
        assert isinstance(found.value, NodeGroup)
        assert found.value.target == then
