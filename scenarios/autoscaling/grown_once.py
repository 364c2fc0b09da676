"""Two pods wait for one node, which comes late, and the autoscaler looks again and again."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.machines import CloudInstance
from actors.shared.user import User
from testbed import Evidence, Found, World, always
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.objects import Map, Node, Pod

AUTOSCALER, GROUP = "autoscaler", "g"
COME_MS = (3_000, 12_000)
"""When the pods come: one before the first pass, and one after it."""
BOOT_MS, BIND_MS = 18_000, 14_000
"""How long a machine takes to be a node, and a bind to take effect, as if a volume were provisioned
first: when the third and the fourth pass are made, the node is there and empty."""
PASSES_MS = (10_000, 20_000, 30_000, 40_000, 50_000)
"""A few passes say it all, and a Run ends even if the cloud is dead."""


def one_node_is_enough(see: Evidence) -> Found | None:
    """The group never wants two nodes: all pods fit one."""
    entry = see.store.peek(f"nodegroups/{GROUP}")
    group: Any = entry and entry.value
    if group.target > 1:
        text = f"{group.name} wants {group.target} nodes for two pods that fit one"
        return Found(text, reason="too many")
    return None


def no_needed_node_goes(see: Evidence) -> Found | None:
    """No machine is deleted while a pod is on its node, or waits for a node. There is no other."""
    found: list[Any] = [entry.value for entry in see.store.snapshot(f"{CloudInstance.plural}/")]
    going = [each.meta.name for each in found if each.gone_ms is not None]
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")] if going else []
    for name in going:
        for pod in pods:
            if pod.spec.node_name in ("", name):
                how = "is on it" if pod.is_bound else "waits"
                return Found(f"{name} is deleted, and {pod.key} {how}", reason="forbidden")
    return None


def grown_once(world: World, *, large: bool = False) -> None:
    """A group grows by one node for two pods, and not again while that node is on its way.

    The first pass asks for a node for the first pod, which takes eighteen seconds to come. The
    second pod fits beside the first, on a node that does not exist yet: the second pass counts that
    node as upcoming, and asks for no other. Then the node is there. The binds of both pods are on
    their way, so two passes find it empty, and here nodes that nobody needs go at once. But a pass
    first puts the pods that wait on the nodes that there are: so it is needed.

    With `large` the two pods do not fit on one node, and the group grows twice.

    The news of the autoscaler may be late, and its requests and replies may be lost. If it is not
    told that the group has grown, it takes that for a failure, and finds the larger group in the
    next pass.

    Cause: what is asked for and not there yet counts as if it were there, and so do pods that wait.
    Look for: the passes at 20 s, 30 s and 40 s, which ask for nothing and delete nothing.
    Source: the function GetUpcomingNodes of the file clusterstate.go of the cluster autoscaler.
    Tags: scale-up, scale-down, stale-cache, lost-reply.
    Kind: control.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    join_cloud(world, NodeGroup(GROUP, max_size=3, template=template, boots=(Boot(BOOT_MS),)))
    world.start(Scheduler("default-scheduler"))
    settings = AutoscalerSettings(
        passes_ms=PASSES_MS, unneeded_time_ms=0, delay_after_add_ms=0,
        node_delete_delay_after_taint_ms=0,
    )  # fmt: skip
    told = Map(events="off", status="off")
    world.start(Autoscaler(AUTOSCALER, settings, switches=told))
    if large:
        world.needs_no_race = "the second pod does not fit beside the first"
    pods = zip(
        COME_MS,
        (Pod.of(name, cpu_m=600 if large else 500) for name in ("first", "second")),
        strict=True,
    )
    world.start(User("ann", tuple(pods)))
    world.allow(Lag(AUTOSCALER), LoseRequest(AUTOSCALER), LoseReply(AUTOSCALER))
    world.latency("bind pods", serve_ms=BIND_MS)
    world.claim(always(one_node_is_enough, reads=("log:nodegroups",)))
    world.claim(always(no_needed_node_goes, reads=("log:pods", "log:cloudinstances")))
