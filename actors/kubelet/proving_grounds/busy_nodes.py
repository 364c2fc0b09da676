"""Busy nodes: two nodes on which pods come, crash, complete, go and come back.

The claims about kubelets are checked in it, and their mutants are hunted in it: everything that a
claim looks at happens in it, in the calm run or in few deviations.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.kubelet.invariants import kubelet_claims
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.runtime import Runtime
from actors.kubelet.workload import Workload
from testbed import Actor, ApiError, Client, NotFound, Operation, Unavailable, World
from testbed.objects import Map, Node, Pod

HERE, THERE = "n1", "n2"
Deed = Callable[[Client], Awaitable[Any]]
"""One thing that a user does."""


@attrs.frozen
class Operators(Actor):
    """Users who do one thing after another, each at its time."""

    deeds: tuple[tuple[int, Deed], ...] = ()

    async def run(self, client: Client) -> None:
        for at_ms, deed in self.deeds:
            if at_ms > client.now():
                await client.sleep(at_ms - client.now(), "next deed")
            await deed(client)


def busy_nodes(world: World, kubelet: type[Kubelet] = Kubelet) -> None:
    """Assemble the World with such kubelets, and claim all that must hold of them."""
    world.serve(ApiServer)
    for node in (HERE, THERE):
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=1000, memory=2**30))
        world.start(kubelet(f"kubelet-{node}", node))
    restless = Workload(runs_ms=(500, 500, 500, None), exit_code=1)
    brief = Workload(runs_ms=1000, torn_down_after_ms=2000)
    world.add(
        pod_on(HERE, "db", 600), restless.given_to(pod_on(HERE, "restless", 100)),
        brief.given_to(pod_on(HERE, "job", 300, restart_policy="Never")),
    )  # fmt: skip
    world.start(
        Operators("ann", (
            (1000, remove("db")), (1500, make(pod_on(HERE, "web", 600))), (6000, comeback(HERE)),
            (20_000, remove("restless")),
        )),
        Operators("ben", ((1700, make(pod_on(HERE, "next", 300))), (25_000, comeback(THERE)))),
    )  # fmt: skip
    world.limit(virtual_ms_max=600_000)
    world.claim(*kubelet_claims())


def serve_node(world: World, node: Node, runtime: type[Runtime] = Runtime) -> None:
    """Serve an API server, and a node with its runtime."""
    world.serve(ApiServer)
    world.serve(partial(runtime, node=node.meta.name))
    world.add(node)


def pod_on(node: str, name: str, cpu_m: int, **spec: Any) -> Pod:
    """A pod that is bound to a node, and is slow to end."""
    pod = Pod.of(name, cpu_m=cpu_m, grace_s=3, node_name=node, **spec)
    return Workload(stops_after_ms=2000).given_to(pod)


# -- what users do --------------------------------------------------------------------------------


def make(pod: Pod) -> Deed:
    """Create a pod; it may be there already."""

    async def deed(client: Client) -> None:
        await _until_answered(client, partial(client.create, pod))

    return deed


def remove(name: str, **options: Any) -> Deed:
    """Delete a pod, with these options."""
    delete = Operation("delete", "pods", name, "default", options=Map(options))

    async def deed(client: Client) -> None:
        await _until_answered(client, partial(client.ask, delete))

    return deed


def comeback(node: str) -> Deed:
    """Create `db`, delete it by force and create it again, on that node."""

    async def deed(client: Client) -> None:
        await make(pod_on(node, "db", 200))(client)
        await client.sleep(1000, "settled")
        await remove("db", grace_s=0)(client)
        await make(pod_on(node, "db", 200))(client)

    return deed


async def _until_answered(client: Client, ask: Callable[[], Awaitable[Any]]) -> None:
    """Ask until there is an answer, whatever it is."""
    while True:
        try:
            await ask()
        except NotFound:
            return
        except Unavailable:
            await client.sleep(1000, "retry")
        except ApiError:
            return
        else:
            return
