"""A node is deleted as empty while a pod is bound to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from actors.apiserver import ApiServer
from actors.apiserver.call import Call
from actors.apiserver.server import VERBS
from actors.apiserver.verbs.bind import bind
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.autoscaler import AutoscalerLoop
from actors.autoscaler.scale_down.actuation.node_deletion import NodeDeletion
from actors.autoscaler.scale_down.scale_down import ScaleDown
from actors.cloud import NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.machines import CloudInstance
from actors.shared.retries import until_told
from actors.shared.user import User
from testbed import Client, Evidence, Operation, World, always
from testbed.objects import Map, Node, Pod
from testbed.objects.meta import key_of
from testbed.store.endpoint import Handler
from testbed.store.footprint import NOTHING, Footprint

TAINT = "ToBeDeletedByClusterAutoscaler"
COMES_MS = 19_000
"""When the pod comes. The passes are at 10 s, when the node is seen to be unneeded, and at 20 s."""
HORIZON_MS = 15_000
GIB = 2**30


class Gatekeeper(ApiServer):
    """An API server that binds no pod to a node that is about to be deleted, or is gone."""

    marks_memory = True

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """A bind looks at its node, too."""
        node = _target(operation)
        looks_at = Footprint(reads=frozenset({key_of(Node, node)})) if node else NOTHING
        return super().may(operation, caller) | looks_at


def _bind_to_what_stays(call: Call) -> Handler:
    """Nothing comes between the look at the node and the commit."""
    name = _target(call.operation)
    node = call.current_at(key_of(Node, name))
    if node is None or any(taint.key == TAINT for taint in node.spec.taints):
        raise call.forbidden(f"node {name} is about to be deleted")
    return (yield from bind(call))


def _target(operation: Operation) -> str:
    body: Any = operation.body
    return body.target.name if operation.asked == "create/binding" else ""


Gatekeeper.verbs = {**VERBS, "create/binding": _bind_to_what_stays}


class FreshLook(NodeDeletion):
    """Asks the API server which pods there are once a node is tainted, and not its own Cache."""

    async def pods_by_node(self, names: Iterable[str]) -> dict[str, list[Pod]]:
        client = self._around.client
        listing = await until_told(client, lambda: client.list(Pod), why="look again")
        here = [pod for pod in listing.items if not pod.is_over]
        return {name: [pod for pod in here if pod.spec.node_name == name] for name in names}


class CarefulScaleDown(ScaleDown):
    """A scale-down that looks at the API server again."""

    deletion = FreshLook


class CarefulLoop(AutoscalerLoop):
    """One life of an autoscaler that does."""

    def __init__(self, actor: Autoscaler, client: Client) -> None:
        super().__init__(actor, client)
        memory = self.memory
        memory.scale_down = CarefulScaleDown(memory.scale_down.around, memory.round_robin)


class CarefulAutoscaler(Autoscaler):
    """An autoscaler that looks at the API server before it deletes a node that was empty."""

    loop: ClassVar[type[AutoscalerLoop]] = CarefulLoop


def no_node_goes_with_a_pod(see: Evidence) -> str | None:
    """No pod is bound to a node of which the machine is being deleted."""
    found: list[Any] = [entry.value for entry in see.store.snapshot(f"{CloudInstance.plural}/")]
    going = {each.meta.name for each in found if each.gone_ms is not None}
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")] if going else []
    for pod in pods:
        if pod.spec.node_name in going and not pod.meta.is_terminating:
            return f"{pod.key} is bound to {pod.spec.node_name}, which is deleted as empty"
    return None


def idle_node(
    world: World, *, delay_ms: int = 0, comes_ms: int = COMES_MS, guard: bool = False
) -> None:
    """A node that nothing needs, an autoscaler that lets it go, and a pod that comes to it."""
    world.serve(Gatekeeper if guard else ApiServer)
    template = Node.of("any", cpu_m=1000, memory=GIB)
    join_cloud(world, NodeGroup("g", max_size=1, target=1, template=template))
    world.start(Scheduler("default-scheduler"))
    settings = AutoscalerSettings(unneeded_time_ms=0, node_delete_delay_after_taint_ms=delay_ms)
    kind = CarefulAutoscaler if guard else Autoscaler
    world.start(kind(settings=settings, switches=Map(events="off", status="off")))
    world.start(User("user", ((comes_ms, Pod.of("web", cpu_m=1000)),)))
    world.claim(always(no_node_goes_with_a_pod, reads=("log:pods", "log:cloudinstances")))


def scale_down_race(world: World, *, guard: bool = False) -> None:
    """A pod is bound to a node that the autoscaler deletes (cluster-autoscaler#3886, #5790).

    It takes the node for empty, taints it, and has it deleted; the pod is bound meanwhile, by a
    scheduler that has not heard of the taint, and dies with it. To wait between taint and deletion,
    as it does since cluster-autoscaler PR#5235, only makes the window narrower. Guarded, no pod is
    bound to a node that has the taint, and the autoscaler asks the API server once it is put: what
    was bound before is seen, and what comes later is refused.
    """
    idle_node(world, guard=guard)
    world.limit(horizon_ms=HORIZON_MS)
