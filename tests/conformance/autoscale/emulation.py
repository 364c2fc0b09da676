"""Emulation: what surrounded the recorded autoscaler: an API server that lets every eviction
through but those that are to fail, kubelets that end pods, and others, who do what a script says.

The cloud is our own (`actors/cloud`), whose machines have no kubelets here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.cloud import CloudInstance, NodeGroup
from actors.shared.machines.registering import NOT_READY
from testbed import BETWEEN, Actor, Cache, Client, Operation
from testbed.errors import ApiError, InternalError, NotFound, TooManyRequests
from testbed.objects import (
    Condition,
    DeleteOptions,
    Map,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    condition,
)
from testbed.objects.calendar import whole_second
from testbed.store.endpoint import Handler
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.store import Store
from tests.conformance.autoscale.clock import CaseClock
from tests.conformance.autoscale.objects import CaseObjects, Tree, boot_of

HAND = "hand"
STOP_LATE_MS = 300
"""How much longer than its grace a pod takes to end."""


class Hand:
    """Writes objects as they are, in the turn of who asks: `put` one, or `remove` it."""

    name = HAND
    near = True
    is_front = False

    def __init__(self, store: Store) -> None:
        self._store = store
        self.on_behind: Any = None

    def begin(self) -> None:
        """Nothing."""

    def restart(self) -> None:
        """Nothing."""

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing beyond the caller's own turn."""
        return NOTHING

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Write at once; what is put becomes the present, whatever was there."""
        item = operation.body
        if operation.verb == "get":
            entry = self._store.get(operation.key)
            return None if entry is None else entry.value
        if operation.verb == "all":
            return [entry.value for entry in self._store.range(f"{operation.plural}/")]
        if operation.verb == "remove":
            self._store.delete(operation.key)
        else:
            self._store.put(item.key, item.with_meta(revision=self._store.next_revision))
        return None
        yield BETWEEN


@attrs.frozen
class Holding:
    """What the emulated side knows of the pods of a case, by name: how they end."""

    clock: CaseClock
    pods: Mapping[str, Tree]

    @classmethod
    def of(cls, case: Tree, clock: CaseClock) -> Holding:
        """All pods, those of the script too; and the copies that are made of some."""
        made = [deed["pod"] for deed in case.get("script") or () if deed["op"] == "create_pod"]
        pods = {tree["name"]: tree for tree in (*case["pods"], *made)}
        return cls(clock, {**{f"{name}-r": tree for name, tree in pods.items()}, **pods})

    def stops_in_ms(self, pod: Pod) -> int | None:
        """How long after its deletion was asked for a pod is gone; None: it never is."""
        stop_s = self.pods[pod.meta.name].get("stop_s", pod.meta.grace_s or 0)
        return None if stop_s < 0 else round(1000 * stop_s) + STOP_LATE_MS

    def copy_of(self, pod: Pod, now_ms: int) -> Pod | None:
        """The pod that its controller makes in its place, if it does."""
        tree = self.pods[pod.meta.name]
        if not tree.get("respawn"):
            return None
        created_s = self.clock.second(now_ms)
        left_out = ("node", "eviction_errors", "respawn", "deletion_time", "nominated_node")
        kept = {name: value for name, value in tree.items() if name not in left_out}
        made = {**kept, "name": f"{pod.meta.name}-r", "node": None, "created": created_s}
        return CaseObjects(self.clock).pod(made)


class LenientServer(ApiServer):
    """An API server that asks no budget: an eviction fails as often as its pod says."""

    marks_memory = True

    def __init__(self, store: Store, holding: Holding) -> None:
        super().__init__(store)
        self._holding = holding
        self._refused: dict[str, int] = {}

    def completed(self, item: Object) -> Object:
        """The object as the case has it."""
        return item

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """An eviction as it was; all else as an API server does."""
        if operation.asked == "create/eviction":
            return (yield from self._evict(operation, now_ms))
        return (yield from super().handle(operation, caller, now_ms))

    def _evict(self, operation: Operation, now_ms: int) -> Handler:
        entry: Any = self.store.get(operation.key)
        if entry is None:
            raise NotFound(f'pods "{operation.name}" not found')
        pod: Pod = entry.value
        tree = self._holding.pods[operation.name]
        count, refused = tree.get("eviction_errors", 0), self._refused.get(operation.name, 0)
        if count < 0 or refused < count:
            self._refused[operation.name] = refused + 1
            raise error_of(tree.get("eviction_code", 429))
        if not pod.meta.is_terminating:
            options: DeleteOptions | None = operation.body.delete_options
            grace_s = None if options is None else options.grace_s
            copy = self._holding.copy_of(pod, now_ms)
            if copy is not None:
                self._put(copy)
            self._put(terminating(pod, pod.spec.grace_s if grace_s is None else grace_s, now_ms))
        return None
        yield BETWEEN

    def _put(self, item: Object) -> None:
        self.store.put(item.key, item.with_meta(revision=self.store.next_revision))


def error_of(code: int) -> ApiError:
    """The answer with that code."""
    said = "Cannot evict pod as it would violate the pod's disruption budget."
    return TooManyRequests(said) if code == 429 else InternalError("eviction failed")


def terminating(pod: Pod, grace_s: int | None, now_ms: int) -> Pod:
    """The pod, once its deletion was asked for."""
    grace_s = 30 if grace_s is None else grace_s
    return pod.with_meta(deleted_ms=whole_second(now_ms + 1000 * grace_s), grace_s=grace_s)


@attrs.frozen
class Kubelets(Actor):
    """Ends pods whose deletion is asked for, each after its time."""

    rank = 1

    holding: Holding = attrs.field(kw_only=True)

    def __hash__(self) -> int:
        return hash(self.name)

    async def run(self, client: Client) -> None:
        """Watch all pods. One that terminates from the start stays."""
        ended = client.queue("ended", idle=True)

        def changed(old: Pod, new: Pod) -> None:
            if not old.meta.is_terminating and new.meta.is_terminating:
                ended.put(new)

        Cache(client, Pod).on(update=changed)
        while True:
            client.spawn("end", self._end, client, await ended.get())

    async def _end(self, client: Client, pod: Pod) -> None:
        in_ms = self.holding.stops_in_ms(pod)
        if in_ms is None:
            return
        await client.sleep(in_ms, f"end of {pod.meta.name}")
        there = await client.ask(_at("get", pod))
        if there is not None and there.meta.uid == pod.meta.uid:
            await client.ask(_at("remove", pod))
            client.record("pod-removed", pod=pod.meta.name)


@attrs.frozen
class Others(Actor):
    """Does what the script of a case says, each deed in one turn at its time."""

    script: tuple[Tree, ...] = attrs.field(kw_only=True)
    clock: CaseClock = attrs.field(kw_only=True)

    def __hash__(self) -> int:
        return hash(self.name)

    async def run(self, client: Client) -> None:
        """Deeds of one instant are done in their order."""
        for deed in sorted(self.script, key=lambda each: float(each["t"])):
            wait_ms = self.clock.ms(deed["t"]) - client.elapsed()
            if wait_ms > 0:
                await client.sleep(wait_ms, "next deed")
            if deed["op"] != "restart":
                await Deed(client, CaseObjects(self.clock), deed).do()


@attrs.frozen
class Deed:
    """One line of a script."""

    client: Client
    objects: CaseObjects
    tree: Tree

    async def do(self) -> None:
        """Do what it says."""
        await getattr(self, f"_{self.tree['op']}")()

    # -- pods -----------------------------------------------------------------------------------

    async def _create_pod(self) -> None:
        await self._put(self.objects.pod(self.tree["pod"]))

    async def _delete_pod(self) -> None:
        await self._remove(await self._pod())

    async def _terminate_pod(self) -> None:
        now_ms = self.client.elapsed()
        await self._change_pod(lambda pod: terminating(pod, pod.spec.grace_s, now_ms))

    async def _bind(self) -> None:
        node = self.tree["node"]
        if await self._get(Node, node) is None:
            return

        def bound(pod: Pod) -> Pod:
            spec = attrs.evolve(pod.spec, node_name=node)
            scheduled = condition.having(
                pod.status.conditions, Condition("PodScheduled", "True"), self.client.elapsed()
            )
            status = attrs.evolve(
                pod.status, phase="Running", conditions=scheduled, nominated_node_name=""
            )
            return attrs.evolve(pod, spec=spec, status=status)

        await self._change_pod(bound)

    async def _nominate(self) -> None:
        node = self.tree["node"]
        await self._change_pod(lambda pod: _with_status(pod, nominated_node_name=node))

    async def _condition(self) -> None:
        said = self.tree["value"]
        conditions = () if said == "none" else (self.objects.unscheduled(said),)
        await self._change_pod(lambda pod: _with_status(pod, conditions=conditions))

    async def _annotate_pod(self) -> None:
        await self._change_pod(lambda pod: self._annotated(pod))

    # -- nodes ----------------------------------------------------------------------------------

    async def _node_ready(self) -> None:
        is_ready = self.tree["value"]
        new = Condition("Ready", "True" if is_ready else "False")

        def changed(node: Node) -> Node:
            found = condition.having(node.status.conditions, new, self.client.elapsed())
            others = tuple([each for each in node.spec.taints if each.key != NOT_READY.key])
            return attrs.evolve(
                node, status=attrs.evolve(node.status, conditions=found),
                spec=attrs.evolve(node.spec, taints=others if is_ready else (*others, NOT_READY)),
            )  # fmt: skip

        if await self._change_node(changed):
            self.client.record("node-ready", node=self.tree["node"], ready=is_ready)

    async def _annotate_node(self) -> None:
        await self._change_node(lambda node: self._annotated(node))

    async def _add_node(self) -> None:
        spec = self.tree["spec"]
        if spec.get("group"):
            await self._put(self.objects.instance(spec["name"], spec["group"]))
        await self._put(self.objects.node(spec))

    async def _remove_node(self) -> None:
        name = self.tree["node"]
        await self._remove(await self._get(CloudInstance, name))
        node = await self._get(Node, name)
        if node is not None:
            await self._remove(node)
            self.client.record("node-removed", node=name)
        for pod in await self.client.ask(Operation("all", Pod.plural, endpoint=HAND)):
            if pod.spec.node_name == name:
                await self._remove(pod)

    async def _remove_node_object(self) -> None:
        await self._remove(await self._get(Node, self.tree["node"]))

    # -- the rest -------------------------------------------------------------------------------

    async def _set_pdb(self) -> None:
        for budget in await self.client.ask(
            Operation("all", PodDisruptionBudget.plural, endpoint=HAND)
        ):
            if budget.meta.name == self.tree["name"]:
                allowed = self.tree["value"]
                status = attrs.evolve(budget.status, disruptions_allowed=allowed)
                await self._put(attrs.evolve(budget, status=status))

    async def _set_target(self) -> None:
        await self._change_group(target=self.tree["value"])

    async def _set_increase_errors(self) -> None:
        await self._change_group(increase_errors=self.tree["value"])

    async def _set_boot(self) -> None:
        await self._change_group(boots=(boot_of(self.tree["value"]),))

    # -- how ------------------------------------------------------------------------------------

    def _annotated(self, item: Any) -> Any:
        notes = {**item.meta.annotations, **self.tree["value"]}
        kept = {name: text for name, text in notes.items() if text is not None}
        return item.with_meta(annotations=Map(kept))

    async def _change_pod(self, change: Callable[[Pod], Pod]) -> None:
        pod = await self._pod()
        if pod is not None:
            await self._put(change(pod))

    async def _change_node(self, change: Callable[[Node], Node]) -> bool:
        node = await self._get(Node, self.tree["node"])
        if node is not None:
            await self._put(change(node))
        return node is not None

    async def _change_group(self, **fields: Any) -> None:
        group = await self._get(NodeGroup, self.tree["group"])
        await self._put(attrs.evolve(group, **fields))

    async def _pod(self) -> Any:
        """The pod of that name, in whichever namespace it is."""
        pods = await self.client.ask(Operation("all", Pod.plural, endpoint=HAND))
        return next((pod for pod in pods if pod.meta.name == self.tree["name"]), None)

    async def _get(self, kind: type[Object], name: str) -> Any:
        return await self.client.ask(Operation("get", kind.plural, name, endpoint=HAND))

    async def _put(self, item: Object) -> None:
        await self.client.ask(_at("put", item))

    async def _remove(self, item: Object | None) -> None:
        if item is not None:
            await self.client.ask(_at("remove", item))


def _with_status(pod: Pod, **fields: Any) -> Pod:
    return attrs.evolve(pod, status=attrs.evolve(pod.status, **fields))


def _at(verb: str, item: Object) -> Operation:
    meta = item.meta
    return Operation(verb, item.plural, meta.name, meta.namespace, item, endpoint=HAND)
