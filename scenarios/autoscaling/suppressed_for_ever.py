"""A pod waits for room on a node that is gone, and the autoscaler waits with it."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.invariants.passes import autoscalers
from actors.autoscaler.pass_record import NOMINATED, PassRecord
from actors.autoscaler.pass_sight import PassSight
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.retries import until_told
from actors.shared.user import User
from testbed import Actor, Client, Evidence, Found, NotFound, World, always
from testbed.objects import Map, Meta, Node, Pod, PriorityClass

NODE = "n1"
"""A node that is not of the group. Its machine has died: nothing ends there any more."""
COMES_MS = 5_000
PASSES_MS = (10_000, 20_000, 30_000)
"""A few passes say it all, and a Run ends even if the cloud is dead."""
GOES_MS = (4_000, 20_000)
"""When its Node is deleted: before the pod comes, or while the pod waits."""


@attrs.frozen
class Technician(Actor):
    """Deletes the Node of the machine that has died. When that is, is picked."""

    rank: ClassVar[int] = 0
    name: str = "technician"

    async def run(self, client: Client) -> None:
        await client.sleep(client.pick("when the node goes", GOES_MS), "take away")
        try:
            node = Node.of(NODE)
            await until_told(client, partial(client.delete, node, whatever_it_was=True), why="go")
        except NotFound:
            return


def no_pod_waits_for_a_node_that_is_gone(see: Evidence) -> Found | None:
    """The autoscaler passes over no pod for a node of which it knows that it is gone."""
    for role in autoscalers(see):
        record: PassRecord | None = role.life.shown.get("pass")
        sight: PassSight | None = role.life.shown.get("sight")
        if record is None or sight is None or record.at_ms != sight.at_ms:
            continue
        nodes = {node.meta.name for node in sight.nodes}
        for key, fate in record.pods.items():
            if fate.fate == NOMINATED and fate.node not in nodes:
                text = f"{key} gets no node, since it waits for {fate.node}, which is gone"
                return Found(text, reason="missing")
    return None


def suppressed_for_ever(world: World, *, guard: bool = False) -> None:
    """A node goes while a pod is nominated to it (cluster-autoscaler#3846, kubernetes#85677).

    The scheduler does not try the pod again because a node is gone, and so the nomination stays,
    until its queue is flushed five minutes later; before kubernetes PR#91750 it stayed for ever.
    And the autoscaler added no node for a pod that has a nomination: each waited for the other.
    Guarded, it asks whether the node is still there (cluster-autoscaler PR#2576).

    Cause: the scheduler leaves a nomination to a node that is gone, and the autoscaler adds no node
      for a pod that has one, without looking for that node.
    Look for: the autoscaler asks for no node, since the pod is nominated to n1, and n1 was deleted
      before.
    Source: cluster-autoscaler#3846, kubernetes#85677, cluster-autoscaler PR#2576.
    Tags: nomination, starvation, scale-up.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    join_cloud(world, NodeGroup("g", max_size=1, template=template, boots=(Boot(20_000),)))
    world.add(PriorityClass(Meta("high"), value=1000), Node.of(NODE, cpu_m=1000))
    world.add(Pod.of("batch", cpu_m=1000, grace_s=30, node_name=NODE))
    world.start(Scheduler("default-scheduler"), Technician())
    rule = "if_node_exists" if guard else "always"
    told = Map(events="off", status="off", nominated_rule=rule)
    world.start(Autoscaler(settings=AutoscalerSettings(passes_ms=PASSES_MS), switches=told))
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="high")
    world.start(User("user", ((COMES_MS, urgent),)))
    world.claim(always(no_pod_waits_for_a_node_that_is_gone))
