"""A cloud in which programs fail: in the end its nodes are those of its instances, whatever struck;
and a complete search sees whatever a random one comes across."""

from __future__ import annotations

from typing import Any

from looking import is_seen
from nodes import breaches
from stage import Puppet, play

from actors.apiserver import ApiServer
from actors.cloud import Boot, Cloud, NodeGroup, join_cloud
from actors.kubelet import Machine
from actors.kubelet.invariants import kubelet_claims
from actors.shared.node_groups import decrease, delete_nodes, groups, increase
from testbed import Client, Evidence, NotFound, World, quiescent
from testbed.errors import ApiError, Invalid
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.objects import Node, Pod
from testbed.world.scenario import of

TEMPLATE = Node.of("any", cpu_m=4000)
GROUP = NodeGroup("g", max_size=2, target=1, template=TEMPLATE, boots=(Boot(5000, 8000),))


def nodes_are_instances(see: Evidence) -> str | None:
    """Each instance that can be a node is one, and each node is an instance."""
    kinds = ("nodes/", "cloudinstances/")
    nodes, machines = [
        {entry.key.rpartition("/")[2] for entry in see.store.snapshot(kind)} for kind in kinds
    ]
    lost = [
        entry.key for entry in see.store.snapshot("pods/")
        if isinstance(entry.value, Pod) and entry.value.spec.node_name not in nodes
    ]  # fmt: skip
    if nodes == machines and not lost:
        return None
    return f"nodes {sorted(nodes)}, instances {sorted(machines)}, pods without a node {lost}"


async def grows_and_shrinks(client: Client) -> None:
    """Somebody who wants one more, and later deletes the first."""

    async def until_done(ask: Any) -> None:
        while True:
            try:
                await ask()
            except (Invalid, NotFound):
                return
            except ApiError:
                await client.sleep(1000, "retry")
                continue
            return

    await until_done(lambda: increase(client, "g", 1))
    await client.sleep(7000)
    await until_done(lambda: delete_nodes(client, "g", ("g-1",)))
    await client.sleep(1000)
    await until_done(lambda: increase(client, "g", 1))


def build(world: World) -> None:
    """One who grows and shrinks a group on which a pod runs."""
    world.serve(ApiServer)
    join_cloud(world, GROUP, machine=Machine)
    world.add(Pod.of("p", node_name="g-1"))
    world.start(Puppet("ann", grows_and_shrinks))
    world.allow(
        Crash("kubelet-g-1", restart_after_ms=3000), Crash("runtime-g-1", restart_after_ms=2000),
        Crash("cloud", restart_after_ms=3000), Crash("cloud-controller", restart_after_ms=4000),
        Partition("kubelet-g-2", for_ms=9000), LoseReply("ann"), LoseReply("cloud-controller"),
    )  # fmt: skip
    world.limit(virtual_ms_max=600_000)
    world.claim(quiescent(nodes_are_instances), *kubelet_claims())


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
    join_cloud(world, GROUP)

    async def grows(client: Client) -> None:
        await client.sleep(20_000)
        await client.sleep(20_000)
        await increase(client, "g", 1)

    world.start(Puppet("ann", grows))
    world.allow(Crash("cloud", restart_after_ms=3000))
    world.claim(quiescent(nodes_are_instances))
    play(world, "wake ann/main*", "fault * crash cloud")
    assert world.store.peek("nodes/g-2") is not None
