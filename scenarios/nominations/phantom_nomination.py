"""A pod is deleted while the scheduler makes room for it, and stays nominated all the same."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants import NominationsAreKept
from actors.shared.retries import make, until_told
from actors.shared.user import User
from testbed import Actor, Client, NotFound, World
from testbed.objects import Map, Node, Pod, PriorityClass

SCHEDULER = "default-scheduler"
URGENT_MS, LASTS_MS, BATCH_MS = 1_000, 500, 3_000
"""When the urgent pod comes, how long its user keeps it, and when the other one comes."""


@attrs.frozen
class Hesitant(Actor):
    """Creates an urgent pod, and deletes it a moment later."""

    rank: ClassVar[int] = 0

    async def run(self, client: Client) -> None:
        await client.sleep(URGENT_MS, "create")
        urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="high")
        await make(client, urgent)
        await client.sleep(LASTS_MS, "delete")
        try:
            delete = partial(client.delete, urgent, whatever_it_was=True)
            await until_told(client, delete, why="retry delete")
        except NotFound:
            return


def phantom_nomination(world: World, *, guard: bool = False) -> None:
    """A pod is deleted while it is tried, and its nomination stays for ever (kubernetes#102339).

    The scheduler makes room for an urgent pod, and its user deletes that pod. The handler of the
    deletion clears queue and nominator, where there is nothing yet: the pod is in its cycle. Then
    the cycle ends as usual, with a nomination. No further event comes for that pod, so its room is
    kept for nobody, and a pod that is less important waits beside an empty node.

    Guarded, the nominator asks the informer, and nominates no pod that is gone.

    Cause: the end of a cycle nominates its pod without a look at whether the pod still exists.
    Look for: the deletion of urgent between the cycle that makes room for it and the end of that.
    Source: kubernetes#102339, kubernetes PR#102498, kubernetes#85447.
    Tags: nomination, check-then-act, lost-wake-up, starvation, silent.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("high", value=100), Node.of("n1", cpu_m=1000))
    world.add(Pod.of("victim", cpu_m=1000, node_name="n1", grace_s=0))
    told = Map(nominates_gone="off" if guard else "on")
    world.start(Scheduler(SCHEDULER, switches=told), Hesitant("ann"))
    world.start(User("ben", ((BATCH_MS, Pod.of("batch", cpu_m=500)),)))
    world.claim(NominationsAreKept())
