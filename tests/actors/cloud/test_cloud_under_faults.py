"""A cloud in which programs fail: in the end its nodes are those of its instances, whatever struck;
and a complete search sees whatever a random one comes across."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.cloud import Cloud, NodeGroup, join_cloud
from actors.cloud.invariants import cloud_claims
from actors.cloud.mutants import MUTANTS
from actors.cloud.proving_grounds.moving_group import moving_group
from actors.kubelet.invariants import kubelet_claims
from actors.shared.node_groups import decrease, groups, increase
from testbed import Client, Evidence, World, quiescent
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.objects import Node
from testbed.testing.mutant import Mutant, hunt
from testbed.world.scenario import of
from tests.each_row import each_row
from tests.models.looking import is_seen
from tests.shared.nodes import breaches
from tests.shared.stage import Puppet, play


def build(world: World) -> None:
    """The proving ground, where programs fail."""
    moving_group(world)
    world.allow(
        Crash("kubelet-g-1", restart_after_ms=3000), Crash("runtime-g-1", restart_after_ms=2000),
        Crash("cloud", restart_after_ms=3000), Crash("cloud-controller", restart_after_ms=4000),
        Partition("kubelet-g-2", for_ms=9000), LoseReply("owner"), LoseReply("cloud-controller"),
    )  # fmt: skip
    world.claim(*kubelet_claims())


@each_row("mutant", MUTANTS, ids=lambda mutant: str(mutant.name))
def test_the_claim_finds_every_mutant(mutant: Mutant) -> None:
    """In the calm run, or in a few more."""
    assert hunt(mutant, runs_max=3, seed=0, switches=None).is_killed


def test_nodes_follow_instances_whatever_fails() -> None:
    """Programs crash, replies are lost, a machine is cut off; and no pod runs twice."""
    assert breaches(of(build, "cloud"), 40, seed=0) == []


def test_a_search_knows_what_a_call_touches() -> None:
    """Who asks first matters, and nothing that a call touches is left out of its footprint."""

    def contest(world: World) -> None:
        world.serve(Cloud)
        world.add(NodeGroup("g", max_size=3, target=1), NodeGroup("h", max_size=1))

        async def grows(client: Client) -> None:
            said = await increase(client, "g", 1)
            client.record("odd" if said == 2 else "plain")

        async def shrinks(client: Client) -> None:
            await decrease(client, "g", 1)

        async def looks(client: Client) -> None:
            await groups(client)
            await increase(client, "h", 1)

        world.start(Puppet("a", grows), Puppet("b", shrinks), Puppet("c", looks))

        def nobody_says_odd(see: Evidence) -> str | None:
            return "odd" if any(each.name == "odd" for each in see.records) else None

        world.claim(quiescent(nobody_says_odd, reads=()))

    assert is_seen(contest, 60) == {(), ("nobody_says_odd",)}


def test_a_watch_that_breaks_is_opened_again() -> None:
    """The cloud goes down and comes back; what is asked of it then is still heard."""
    world = World("cloud")
    world.serve(ApiServer)
    join_cloud(world, NodeGroup("g", max_size=2, target=1, template=Node.of("any", cpu_m=4000)))

    async def grows(client: Client) -> None:
        await client.sleep(20_000)
        await client.sleep(20_000)
        await increase(client, "g", 1)

    world.start(Puppet("ann", grows))
    world.allow(Crash("cloud", restart_after_ms=3000))
    world.claim(*cloud_claims())
    play(world, "wake ann/main*", "fault * crash cloud")
    assert world.store.peek("nodes/g-2") is not None
