"""Level 9, after you; no, after you: what the descheduler evicts comes back to where it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.scheduler import Scheduler
from actors.shared.cpu import asked_m, free_m
from actors.shared.owners import controller_of
from actors.shared.verbs import evict
from testbed import Actor, ApiError, Client, Evidence, Invariant, World, always, no_lasso
from testbed.errors import ScenarioError
from testbed.invariant import COMMIT, TURN
from testbed.objects import (
    DeleteOptions,
    LabelSelector,
    Map,
    Meta,
    Node,
    Owner,
    Pod,
    PodTemplate,
    Preconditions,
    ReplicaSet,
    ReplicaSetSpec,
    condition,
)
from testbed.store.delivery import DELETED
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryOrder, ManyOrders, WayToLook
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step

TIDIER = seat("tidier")
FULL, CORDONED, FREE, TIGHT = KINDS = "full", "cordoned", "free", "tight"
ROOM_M, POD_M, BIG_M = 2000, 400, {FULL: 1900, TIGHT: 1600}
"""The cpu of each node, of each pod, and of the pod that fills a node, or leaves room for one."""
PASS_MS, SLOW_MS, SETTLED_MS, ENDS_MS = 15_000, 10_000, 120_000, 240_000
ASKS_MAX, TURNS_MAX = 60, 1_500
SMALL, KUBERNETES, DESCHEDULER = "small", "kubernetes", "descheduler"
FEW = EveryOrder(runs_max=60, random_max=10)


def owner_of(pod: Pod) -> str:
    """The name of the ReplicaSet that the pod is of; empty if nothing would create it again."""
    owner = controller_of(pod)
    return "" if owner is None else owner.name


def duplicates(pods: Iterable[Pod]) -> list[Pod]:
    """Of the pods of one owner on one node all but the first."""
    first: dict[tuple[str, str], Pod] = {}
    owned = [pod for pod in pods if owner_of(pod) and pod.is_bound]
    return [p for p in owned if first.setdefault((owner_of(p), p.spec.node_name), p) is not p]


@attrs.frozen
class Tidier(Actor):
    """A descheduler: evicts pods of one owner that share a node, so that they come apart."""

    component = TIDIER

    pass_ms: int = PASS_MS
    """How long it sleeps between two passes."""

    async def evict(self, client: Client, pod: Pod) -> bool:
        """Evict a pod; returns whether it has gone."""
        try:
            await evict(client, pod, DeleteOptions(preconditions=Preconditions(pod.meta.uid)))
        except ApiError:
            return False
        return True


class CarelessTidier(Tidier):
    """Evicts each duplicate, in each pass."""

    async def run(self, client: Client) -> None:
        while True:
            pods: list[Pod] = list((await client.list(Pod)).items)
            for pod in duplicates(pods):
                await self.evict(client, pod)
            await client.sleep(self.pass_ms)


@attrs.frozen
class PutsBack(Actor):
    """A ReplicaSet controller and a scheduler in one: when a pod has gone, creates it again."""

    wanted: tuple[Pod, ...] = ()
    """The pods that there shall be."""

    async def run(self, client: Client) -> None:
        listing = await client.list(Pod)
        stream = await client.watch(Pod, listing.revision)
        there: dict[str, Any] = {pod.key: pod for pod in listing.items}
        while True:
            for pod in self.wanted:
                if pod.key not in there:
                    nodes: list[Any] = list((await client.list(Node)).items)
                    best = _best_for(pod, nodes, list(there.values()))
                    assert best is not None, "the node that the pod has left has room"
                    spec = attrs.evolve(pod.spec, node_name=best.meta.name)
                    there[pod.key] = await client.create(attrs.evolve(pod, spec=spec))
            delivery = await stream.next()
            if delivery.type == DELETED:
                there.pop(delivery.object.key, None)


def _kin(pod: Pod, node: Node, pods: list[Pod]) -> int:
    """How many of these pods are on that node, and of the pod's owner."""
    here = [each for each in pods if each.spec.node_name == node.meta.name]
    return sum(owner_of(each) == owner_of(pod) for each in here)


def _best_for(pod: Pod, nodes: list[Node], pods: list[Pod]) -> Node | None:
    """The open node with room that has the fewest pods of that owner, and of these the one with the
    most room; None if there is none."""
    open_to = [node for node in nodes if not node.spec.unschedulable]
    fit = [node for node in open_to if free_m(node, pods) >= asked_m(pod)]
    return max(fit, key=lambda n: (-_kin(pod, n, pods), free_m(n, pods)), default=None)


@attrs.frozen
class FreesNode(Actor):
    """A user: deletes the pods that no owner has, at some time."""

    at_ms: int = 0

    async def run(self, client: Client) -> None:
        await client.sleep(self.at_ms)
        for pod in (await client.list(Pod)).items:
            if isinstance(pod, Pod) and not owner_of(pod):
                await client.delete(pod, whatever_it_was=True)


def only_duplicates_are_evicted(see: Evidence) -> str | None:
    """When a pod is evicted, another pod of its owner is on its node."""
    for pod in _evicted(see):
        owner, node = owner_of(pod), pod.spec.node_name
        if not owner:
            return f"{pod.meta.name} was evicted, and nothing creates it again"
        if all((owner_of(each), each.spec.node_name) != (owner, node) for each in _pods(see)):
            return f"{pod.meta.name} was evicted, and {node} had no other pod of {owner}"
    return None


class EvictionsEnd(Invariant):
    """No pod is evicted later than two minutes after the last change from outside. What a slow
    scheduler does some time after an eviction is such a change, and so is what was held back."""

    name = "evictions_end"
    looks_at = frozenset({COMMIT})
    reads = frozenset({"log:pods"})

    def __init__(self) -> None:
        self._since_ms = self._evicted_ms = 0

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        now_ms, evicted = evidence.now_ms, _evicted(evidence)
        if evicted:
            self._evicted_ms = now_ms
        is_outside = _who(evidence) != DESCHEDULER and now_ms > self._evicted_ms + SLOW_MS
        if is_outside or evidence.table.pending.held:
            self._since_ms = now_ms
        if evicted and now_ms > self._since_ms + SETTLED_MS:
            return f"{evicted[0].meta.name} was evicted after {now_ms // 1000} s, still"
        return None


class DuplicatesMove(Invariant):
    """Two minutes after pods have changed, or something was held back, no duplicate could be on an
    open node that has room for it, and no pod of its owner."""

    name = "duplicates_that_can_move_have_moved"
    looks_at = frozenset({TURN})
    reads = frozenset({"log:pods.spec", "log:nodes.spec"})

    def __init__(self) -> None:
        self._changed_ms = 0

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        has_changed = any(change.key.startswith("pods/") for change in evidence.changes)
        if has_changed or evidence.table.pending.held:
            self._changed_ms = evidence.now_ms
        is_late = evidence.now_ms > self._changed_ms + SETTLED_MS
        return self.end(evidence) if is_late else None

    def end(self, evidence: Evidence) -> str | None:
        pods = _pods(evidence)
        nodes: list[Any] = [entry.value for entry in evidence.store.snapshot("nodes/")]
        for pod in duplicates(pods):
            best = _best_for(pod, nodes, pods)
            if best is not None and not _kin(pod, best, pods):
                here, there = pod.spec.node_name, best.meta.name
                return f"{pod.meta.name} is a duplicate on {here}, and could be on {there}"
        return None


def _pods(see: Evidence) -> list[Pod]:
    found: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    return found


def _who(see: Evidence) -> str:
    """Who asked for what was done in the turn that has just ended."""
    return see.served.role.name if see.served else ""


def _evicted(see: Evidence) -> list[Pod]:
    """The pods that have gone by an eviction in the turn that has just ended."""
    of_pods = [change for change in see.changes if change.key.startswith("pods/")]
    gone: list[Any] = [change.old.value for change in of_pods if change.old and not change.new]
    return [pod for pod in gone if condition.find(pod.status.conditions, "DisruptionTarget")]


def put_back(
    world: World,
    *,
    scheduler: str = SMALL,
    nodes: str = "n1,n2",
    others: str = FULL,
    owners: str = "web",
    pods: int = 2,
    frees_ms: int = 0,
) -> None:
    """A descheduler evicts duplicates from a node, and a scheduler puts them back, for ever.

    Cause: the descheduler does not ask where the pod could go, and the scheduler has one answer.
    Look for: a pod that is created on the node from which it was just evicted.
    Source: descheduler#1237.
    Tags: endless, two-views, no-timing, eviction.
    """
    first, *rest = nodes.split(",")
    kinds = others.split(",")
    if len(kinds) != len(rest) or not {*kinds} <= {*KINDS}:
        raise ScenarioError(f"others={others}: expected {' or '.join(KINDS)} for {rest}")
    world.serve(ApiServer)
    world.add(Node.of(first, cpu_m=ROOM_M))
    for name, kind in zip(rest, kinds, strict=True):
        world.add(Node.of(name, cpu_m=ROOM_M, unschedulable=kind == CORDONED))
        if kind in BIG_M:
            world.add(Pod.of(f"big-{name}", cpu_m=BIG_M[kind], node_name=name, grace_s=0))
    wanted = [pod for owner in owners.split(",") for pod in _added(world, owner, pods, first)]
    if scheduler == KUBERNETES:
        quiet = Map(events="off")
        world.start(Scheduler("default-scheduler"), ReplicaSetController("rs", switches=quiet))
    else:
        world.start(PutsBack("scheduler", tuple(wanted)))
    if frees_ms:
        world.start(FreesNode("user", frees_ms))
    world.start(CarelessTidier(DESCHEDULER))
    world.limit(virtual_ms_max=frees_ms + ENDS_MS, instant_turns_max=TURNS_MAX)
    world.claim(
        no_lasso(named_anew=["pods"], reads=("log:pods",)),
        always(only_duplicates_are_evicted, reads=("log:pods", "log:replicasets", "log:events")),
        EvictionsEnd(),
        DuplicatesMove(),
        AsksWithinReason(ASKS_MAX),
    )
    if not {*kinds} <= {FREE, TIGHT}:
        world.needs_no_race = "each undoes what the other does, however they are timed"


def _added(world: World, owner: str, pods: int, node: str) -> list[Pod]:
    """Add a ReplicaSet, and its pods on one node; returns them."""
    labels = Map(app=owner)
    template = PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=POD_M, grace_s=0).spec)
    spec = ReplicaSetSpec(pods, selector=LabelSelector(labels), template=template)
    added = ReplicaSet(owner, spec=spec)
    world.add(added)
    entry: Any = world.store.peek(added.key)
    managed = Owner("apps/v1", "ReplicaSet", owner, entry.value.meta.uid, controller=True)
    found = [
        Pod.of(f"{owner}-{letter}", cpu_m=POD_M, labels=labels, node_name=node, grace_s=0)
        for letter in "abcdef"[:pods]
    ]
    found = [pod.with_meta(owners=(managed,)) for pod in found]
    world.add(*found)
    return found


def _trial(name: str, look: WayToLook, **switches: Any) -> LevelTrial:
    return LevelTrial(name=name, look=look, switches=switches, runs_out=True)


LEVEL = LearnLevel(
    number=9,
    title="after you; no, after you",
    concept=(
        "Two programs that each do their work well can keep each other busy for ever. A "
        "descheduler evicts a pod that should be elsewhere, and the scheduler decides where to. If "
        "its rules leave only the old node, the pod comes back, and is evicted again. So before "
        "you undo what another program did, ask what it would do next."
    ),
    build=put_back,
    component=TIDIER,
    base=Tidier,
    careless=CarelessTidier,
    asked=(
        "A descheduler makes four passes a minute. A duplicate is a pod whose node has another pod "
        "of the same owner; `duplicates(pods)` gives those to evict. When a pod is evicted, its "
        "owner creates another one, and the scheduler puts it on an open node with room, best on "
        "one without a pod of that owner. If there is such a node, a duplicate must move. Two "
        "minutes after the last change from outside no pod may be evicted any more. Evict nothing "
        "but duplicates: a pod without an owner never comes back. Mend `run`."
    ),
    calls=(
        "`client.list` of Pod and Node, `self.evict(client, pod)`, `client.sleep(self.pass_ms)`. "
        "`asked_m(pod)` is the cpu that a pod asks for, `free_m(node, pods)` what a node has left; "
        "`owner_of(pod)` names the owner, `pod.spec.node_name` the node. A node is not open if its "
        "`node.spec.unschedulable` is true. Its name is `node.meta.name`."
    ),
    imports="""\
from scenarios.levels.put_back import Tidier, asked_m, duplicates, free_m, owner_of
from testbed import Client
from testbed.objects import Node, Pod
""",
    guess=GuessFirst(
        question=(
            "Two pods of one ReplicaSet are on n1, and n2 is full. In each pass the descheduler "
            "evicts one of them, since two are together. What happens?"
        ),
        choices=(
            "the new pod waits until n2 has room",
            "the new pod goes to n1, and is evicted again, for ever",
            "after some tries the descheduler gives up",
        ),
        answer=2,
        why=(
            "n1 has room, since a pod has just left it. The scheduler does not know why it left, "
            "and the descheduler does not ask where it went."
        ),
    ),
    hints=(
        "Where will the scheduler put the next pod? If that is the old node, why evict?",
        "Evict a duplicate only if there is a node where it could go: list the nodes, too.",
        "Such a node is open, has room for the pod beside all pods on it, and has no pod of the "
        "same owner: otherwise the pod would be a duplicate there as well.",
        "For each node ask `not node.spec.unschedulable`, `free_m(node, pods) >= asked_m(pod)`, "
        "and that no pod there has the same `owner_of`. Ask again in each pass: room may come.",
    ),
    words={
        "node": "A machine that runs pods.",
        "pod": "What is to run; it asks for some cpu.",
        "owner": "The ReplicaSet of a pod; it creates another pod when one has gone.",
        "duplicate": "A pod whose node has another pod of the same owner.",
        "descheduler": "A program that evicts pods which would be better elsewhere.",
        "scheduler": "A program that decides on which node a pod goes.",
        "evict": "To delete a pod from its node, politely.",
        "room": "The cpu of a node that no pod on it has asked for.",
        "full": "Of a node: it has no room for another pod.",
        "open": "Of a node: it takes new pods; kubectl cordon closes it.",
        "pass": "One look of the descheduler at everything.",
        "lap": "What happens between a state and the same state again.",
    },
    incident=RealIncident(
        said="RemoveDuplicates, a strategy of the descheduler, takes a full node for a place.",
        link="https://github.com/kubernetes-sigs/descheduler/issues/1237",
    ),
    trials=(
        _trial("the other node is full, calmly", ManyOrders(1)),
        _trial("the other node is full for some minutes", ManyOrders(10), frees_ms=160_000),
        _trial("the other node has room", FEW, others=FREE),
        _trial("the other node is not open", FEW, others=CORDONED),
        _trial("one is full, one has room", FEW, nodes="n1,n2,n3", others=f"{FULL},{FREE}"),
        _trial("the other node has room for one pod", ManyOrders(8), others=TIGHT),
        _trial("three pods, and two nodes with room", ManyOrders(20), others=FREE, pods=3),
        _trial("full, and Kubernetes' scheduler", ManyOrders(4), scheduler=KUBERNETES),
        _trial("room, and Kubernetes' scheduler", ManyOrders(8), scheduler=KUBERNETES, others=FREE),
        LevelTrial(
            name="other names and numbers, four nodes", look=ManyOrders(16),
            switches={"others": f"{CORDONED},{FREE},{FULL}"}, is_varied=True, runs_out=True),
        _trial("the other node is full, in every order", FEW),
    ),
    varied={
        "nodes": ("a,b,c,d", "north,east,south,west", "m4,m3,m2,m1"),
        "owners": ("web,api", "shop,mail", "x,y"),
        "pods": (2, 3),
        "frees_ms": (0, 0, 155_000),
    },
)  # fmt: skip
