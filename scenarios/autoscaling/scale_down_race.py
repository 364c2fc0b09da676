"""A node is deleted as empty while a pod is bound to it, or nominated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from actors.apiserver import ApiServer
from actors.apiserver.call import Call
from actors.apiserver.server import VERBS, Verb
from actors.apiserver.verbs.bind import bind
from actors.apiserver.verbs.update import patch
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.asking import is_expendable
from actors.autoscaler.autoscaler import AutoscalerLoop
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.scale_down.actuation.node_deletion import NodeDeletion
from actors.autoscaler.scale_down.scale_down import ScaleDown
from actors.cloud import NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.machines import CloudInstance
from actors.shared.retries import until_told
from actors.shared.user import User
from testbed import Evidence, Operation, World, always
from testbed.objects import Map, Meta, Node, Pod, PriorityClass
from testbed.objects.meta import key_of
from testbed.store.endpoint import Handler
from testbed.store.footprint import NOTHING, Footprint

TAINT = "ToBeDeletedByClusterAutoscaler"
PASSES_MS = (10_000, 20_000)
"""In the first the node is seen to be unneeded; in the second it goes."""
COMES_MS = 19_000
"""When the pod comes."""
SPARE = -20
"""The priority of a pod that gives way to everything."""
GIB = 2**30


class Gatekeeper(ApiServer):
    """An API server that binds and nominates no pod to a node that is about to be deleted, or is
    gone."""

    marks_memory = True

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """A bind or a nomination looks at its node, too."""
        node = _target(operation)
        looks_at = Footprint(reads=frozenset({key_of(Node, node)})) if node else NOTHING
        return super().may(operation, caller) | looks_at


def _to_what_stays(verb: Verb) -> Verb:
    """The verb, for nodes that stay. Nothing comes between the look at the node and the commit."""

    def guarded(call: Call) -> Handler:
        name = _target(call.operation)
        node = call.current_at(key_of(Node, name)) if name else None
        if name and (node is None or any(taint.key == TAINT for taint in node.spec.taints)):
            raise call.forbidden(f"node {name} is about to be deleted")
        return (yield from verb(call))

    return guarded


def _target(operation: Operation) -> str:
    """The node that a pod is bound or nominated to by this, or nothing."""
    body: Any = operation.body
    if operation.asked == "create/binding":
        return str(body.target.name)
    if operation.asked == "patch/status" and operation.plural == Pod.plural:
        return body["status"].get("nominatedNodeName") or ""
    return ""


Gatekeeper.verbs = {
    **VERBS,
    "create/binding": _to_what_stays(bind),
    "patch/status": _to_what_stays(patch),
}


class FreshLook(NodeDeletion):
    """Once a node is tainted, lists its pods at the API server and not in its own Cache. A pod that
    is nominated to a node counts as being there."""

    async def pods_by_node(self, names: Iterable[str]) -> dict[str, list[Pod]]:
        client = self._around.client
        listing = await until_told(client, lambda: client.list(Pod), why="look again")
        cutoff = client.switches.expendable_cutoff
        pods = [p for p in listing.items if not (p.is_over or is_expendable(p, cutoff))]
        return {name: [pod for pod in pods if _node_of(pod) == name] for name in names}


class CarefulScaleDown(ScaleDown):
    """A scale-down that lists pods at the API server before it deletes a node."""

    deletion = FreshLook


class CarefulMemory(AutoscalerMemory):
    """What an autoscaler with that scale-down remembers."""

    scaling_down = CarefulScaleDown


class CarefulLoop(AutoscalerLoop):
    """One life of it."""

    remembering = CarefulMemory


class CarefulAutoscaler(Autoscaler):
    """An autoscaler that lists pods at the API server before it deletes a node."""

    loop: ClassVar[type[AutoscalerLoop]] = CarefulLoop


def _node_of(pod: Pod) -> str:
    return pod.spec.node_name or pod.status.nominated_node_name


def no_node_goes_with_a_pod(see: Evidence) -> str | None:
    """No pod is bound or nominated to a node while its machine is being deleted. Expendable pods do
    not count."""
    found: list[Any] = [entry.value for entry in see.store.snapshot(f"{CloudInstance.plural}/")]
    going = {each.meta.name for each in found if each.gone_ms is not None}
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")] if going else []
    for pod in pods:
        if _node_of(pod) in going and not pod.meta.is_terminating and pod.spec.priority != SPARE:
            how = "bound" if pod.is_bound else "nominated"
            return f"{pod.key} is {how} to {_node_of(pod)}, which is deleted as empty"
    return None


def idle_node(
    world: World,
    *,
    delay_ms: int = 0,
    comes_ms: int = COMES_MS,
    nominated: bool = False,
    guard: bool = False,
) -> None:
    """A node that nothing needs, an autoscaler that lets it go, and a pod that comes to it."""
    world.serve(Gatekeeper if guard else ApiServer)
    template = Node.of("any", cpu_m=1000, memory=GIB)
    join_cloud(world, NodeGroup("g", max_size=1, target=1, template=template))
    if nominated:
        world.add(PriorityClass(Meta("spare"), value=SPARE))
        world.add(Pod.of("filler", cpu_m=1000, node_name="g-1", priority_class_name="spare"))
    world.start(Scheduler("default-scheduler"))
    settings = AutoscalerSettings(
        passes_ms=PASSES_MS, unneeded_time_ms=0, node_delete_delay_after_taint_ms=delay_ms
    )
    kind = CarefulAutoscaler if guard else Autoscaler
    world.start(kind(settings=settings, switches=Map(events="off", status="off")))
    world.start(User("user", ((comes_ms, Pod.of("web", cpu_m=1000)),)))
    world.claim(always(no_node_goes_with_a_pod, reads=("log:pods", "log:cloudinstances")))


def scale_down_race(
    world: World, *, delay_ms: int = 0, nominated: bool = False, guard: bool = False
) -> None:
    """A pod is bound to a node that the autoscaler deletes (cluster-autoscaler#3886).

    It takes the node for empty, taints it, and has it deleted. The pod is bound before the taint,
    and the autoscaler has not heard of it; or after it, by a scheduler that has not heard of the
    taint. `delay_ms` is the wait between taint and deletion (cluster-autoscaler PR#5235): with 5000
    as in 1.26, the window is narrower. With `nominated=on` an expendable pod fills the node, so
    that the autoscaler takes it for empty, too: the new pod preempts that one, and waits for a node
    that is deleted. Guarded, no pod is bound or nominated to a node that has the taint, and the
    autoscaler asks the API server once it is put: what was written before is seen, and what comes
    later is refused.

    Cause: the autoscaler looks for pods in its cache and then deletes the node, and until then a
      pod can be bound to it.
    Look for: the bind to g-1 that the autoscaler has not heard of when it has g-1 deleted as empty.
    Source: cluster-autoscaler#3886, cluster-autoscaler#5790, cluster-autoscaler PR#5235.
    Tags: stale-cache, check-then-act, scale-down.
    """
    idle_node(world, delay_ms=delay_ms, nominated=nominated, guard=guard)
