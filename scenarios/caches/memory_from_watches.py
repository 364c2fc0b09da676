"""No object says how much of a node is free, and a scheduler that is killed knows it again."""

from __future__ import annotations

from typing import Any, NoReturn

import attrs

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Client, Evidence, World, always, quiescent
from testbed.objects import Node, Pod, requests_of, room_of

HAS_M = 1000
KILLED_MS, DOWN_MS, SMALL_MS = 10_000, 2_000, 15_000


@attrs.frozen
class KilledOnce(Scheduler):
    """A scheduler that is killed at a fixed time, and started again."""

    async def run(self, client: Client) -> None:
        if client.now() < KILLED_MS:
            client.spawn("killed", self._end, client)
        await super().run(client)

    async def _end(self, client: Client) -> NoReturn:
        await client.sleep(KILLED_MS - client.now(), "be killed")
        client.record("killed", said="was killed, with all that it had counted")
        client.exit(DOWN_MS)


def allocatable_stays(see: Evidence) -> str | None:
    """What a node says is allocatable does not depend on the pods that it has."""
    node: Any = see.store.peek("nodes/n1")
    room = room_of(node.value)["cpu"]
    return None if room == HAS_M else f"nodes/n1 has {room}m allocatable cpu, and had {HAS_M}m"


def c_waits_and_small_is_bound(see: Evidence) -> str | None:
    """The pod waits that is too large for what is left, and the one is bound that is not. After a
    fault others may be bound, but never more than there is room for."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = {pod.key: requests_of(pod)["cpu"] for pod in pods if pod.is_bound}
    if there.keys() == {f"pods/default/{name}" for name in ("a", "b", "small")}:
        return None
    if see.faults and sum(there.values()) <= HAS_M:
        return None
    return f"on n1 are {', '.join(sorted(there))}"


def memory_from_watches(world: World) -> None:
    """A scheduler is killed; its next life knows how full the node is, which no object says.

    The node has 1000m cpu. A, b and c ask for 400m each, and c finds no room, though the node still
    says that 1000m are allocatable: that never shrinks. The scheduler subtracts for itself. It is
    killed, and begins again with nothing. It lists all pods, and adds up those that are bound
    before it tries the first one. So c waits on, and small, which asks for 200m, is bound: that is
    all that is left.

    With a fault that is not allowed here, a lost answer to a bind, the node gets more than it has:
    until its watch says otherwise, the scheduler takes that pod for one that is not bound.

    Cause: a scheduler's memory is worked out from the pods that it lists and watches.
    Look for: c is refused in both lives, and small is bound in the second.
    Source: the article "QoS, Node allocatable and the Kubernetes Scheduler".
    Tags: restart, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=HAS_M))
    for name in ("a", "b", "c"):
        world.add(Pod.of(name, cpu_m=400))
    world.start(KilledOnce("default-scheduler"))
    world.start(User("ann", ((SMALL_MS, Pod.of("small", cpu_m=200)),)))
    world.claim(always(allocatable_stays, reads=("log:nodes.status",)))
    world.claim(quiescent(c_waits_and_small_is_bound, reads=()))
