"""A pod waits for a node that seems to be on its way, while another one is drained."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.pass_record import UPCOMING, PassRecord, PodFate
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.kubelet import Machine
from actors.scheduler import Scheduler
from actors.shared.machines import CloudInstance
from actors.shared.retries import make
from testbed import Actor, Client, Evidence, Found, Invariant, World
from testbed.invariant import TURN
from testbed.objects import Map, Node, Owner, Pod, ReplicaSet
from testbed.objects.condition import find
from testbed.turns.trace import Step

GIB = 2**30
GRACE_S = 30
"""How long the pod takes to end that has to move."""
COMES_MS = (65_000, 26_000)
"""When the large pod comes: after the drain or in it. The node is tainted at 20 s, its pod evicted
at 25 s, and the cloud asked to delete it at 55 s."""
PASSES_MAX = 2
"""In the first pass that knows of a pod it may be too young (INV-36)."""


@attrs.frozen
class Latecomer(Actor):
    """Creates a pod. When it does, is picked."""

    rank: ClassVar[int] = 0
    name: str = "latecomer"

    async def run(self, client: Client) -> None:
        """Wait, and create it."""
        await client.sleep(client.pick("when the pod comes", COMES_MS), "come")
        await make(client, Pod.of("large", cpu_m=1900, memory=GIB))


class GroupsGrowForWhoWaits(Invariant):
    """A pod that two passes have known of has a node, or the cloud was asked for a machine since it
    was found unschedulable. A pass that finds room for it on a node that is gone, and has not heard
    of that, does not count."""

    name = "groups_grow_for_who_waits"
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self) -> None:
        self._last: PassRecord | None = None
        self._passes: dict[str, int] = {}

    def look(self, step: Step | None, evidence: Evidence) -> Found | None:
        (role,) = [each for each in evidence.actors if each.name == "autoscaler"]
        record: Any = role.life and role.life.shown.get("pass")
        if record is None or record is self._last:
            return None
        self._last = record
        self._passes = {
            key: self._passes.get(key, 0) + (not _is_behind(fate, evidence))
            for key, fate in record.pods.items()
        }
        late = [key for key, passes in self._passes.items() if passes > PASSES_MAX]
        return next((said for key in late if (said := _waits(key, evidence))), None)


def _is_behind(fate: PodFate, see: Evidence) -> bool:
    """Whether the pass has found room on a node that is there no longer."""
    is_known = bool(fate.node) and not fate.node.startswith(UPCOMING)
    return is_known and see.store.peek(f"nodes/{fate.node}") is None


def _waits(key: str, see: Evidence) -> Found | None:
    """What is said of a pod that has no node yet, if no machine was asked for since."""
    entry = see.store.peek(f"pods/{key}")
    pod: Any = entry and entry.value
    if pod is None or pod.is_bound:
        return None
    said = find(pod.status.conditions, "PodScheduled")
    machines: list[Any] = [e.value for e in see.store.snapshot(f"{CloudInstance.plural}/")]
    asked_ms = max([each.requested_ms or 0 for each in machines], default=0)
    if said is None or said.since_ms is None or asked_ms >= said.since_ms:
        return None
    return Found(f"{pod.key} is passed over again, and no machine was asked for", reason="missing")


def phantom_upcoming(world: World, *, guard: bool = False) -> None:
    """A pod comes while the only node it would fit is drained, and its group could grow.

    A node that is tainted to go counts as neither ready nor unready, but its group still wants it:
    so it seems that another one is on its way. The pod fits that, and nothing is asked for until
    the drain is over. Guarded, the provider can say that the node still has a machine (CA-21).

    Cause: upcoming nodes are the target less the ready and unready ones, and a node with the taint
      ToBeDeletedByClusterAutoscaler is neither.
    Look for: the autoscaler asks for no node, as g wants 2, and the second of the two is about to
      be deleted.
    Source: cluster-autoscaler#4456, cluster-autoscaler PR#5054.
    Tags: grace-period, scale-up, scale-down.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=2000, memory=4 * GIB)
    group = NodeGroup("g", max_size=3, target=2, spare=0, template=template, boots=(Boot(5_000),))
    join_cloud(world, group, machine=Machine)
    keeps = Pod.of("keeps", cpu_m=1100, memory=GIB, node_name="g-1")
    moves = Pod.of("moves", cpu_m=400, memory=GIB, node_name="g-2", grace_s=GRACE_S)
    owners = (Owner("apps/v1", "ReplicaSet", "web", "web", True),)
    world.add(ReplicaSet("web"), keeps, moves.with_meta(owners=owners))
    world.start(Scheduler("default-scheduler"), Latecomer())
    settings = AutoscalerSettings(unneeded_time_ms=0)
    told = Map(events="off", status="off", has_instance="on" if guard else "off")
    world.start(Autoscaler(settings=settings, switches=told))
    world.claim(GroupsGrowForWhoWaits())
