"""Level 7, a seat that is kept: a pod takes the room that was made for another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.shared.cpu import asked_m, free_m, kept_m, no_node_is_overcommitted
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Client, Evidence, Invariant, World, always
from testbed.errors import ScenarioError
from testbed.invariant import TURN
from testbed.objects import Map, Meta, Node, Pod, PriorityClass
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, EveryOrder, ManyOrders, WayToLook
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step

BINDER = seat("binder")
URGENT = 100
"""The priority of the pod that room is made for."""
POLL_MS, WITHIN_MS = 1_000, 5_000
FEW, MANY = EveryOrder(runs_max=60, random_max=20), ManyOrders(15)
HALF = Map[Any](late_m=500, victims="500/1,500/7")
SPARE = Map[Any](late_m=500, victims="1000/7", spare_m=500, late_s=1)
BOTH = Map[Any](late_m=500, room_m=1500, late_s=5)
LEFT_MS = 7_000
"""How long a Run goes on after the last victim is gone, and every pod is there."""
READS = ("log:pods.spec", "log:pods.status", "log:pods.meta", "log:nodes.status")
ASKS_MAX = 60


@attrs.frozen
class Binder(Actor):
    """A small scheduler that makes no room: it binds the pods that name it where they fit."""

    rank: ClassVar[int] = 5
    component = BINDER

    def is_mine(self, pod: Pod) -> bool:
        """Whether a pod names this scheduler and is on no node."""
        return pod.spec.scheduler_name == self.name and not pod.is_bound

    async def bind(self, client: Client, pod: Pod, node: Node) -> None:
        """Bind a pod to a node. Conflict if the pod has a node; the node itself is not checked."""
        await bind(client, pod, node.meta.name)


class CarelessBinder(Binder):
    """Looks each second, and binds each of its pods to the first node that has room."""

    async def run(self, client: Client) -> None:
        while True:
            nodes: list[Node] = list((await client.list(Node)).items)
            pods: list[Pod] = list((await client.list(Pod)).items)
            for pod in filter(self.is_mine, pods):
                for node in nodes:
                    if asked_m(pod) <= free_m(node, pods):
                        await self.bind(client, pod, node)
                        break
            await client.sleep(1_000)


@attrs.frozen
class Preemptor(Actor):
    """The other scheduler, which makes room for its pod. Each second it looks.

    1. If a node has room for the pod, it binds the pod.
    2. If the pod is nominated, and what terminates there makes room enough, it waits.
    3. If not, it takes the nomination back. If a node would have room without the less important
       pods, it nominates the pod there, and deletes these.
    """

    rank: ClassVar[int] = 4

    async def run(self, client: Client) -> None:
        wait_ms = POLL_MS // 4
        while True:
            await client.sleep(wait_ms, "look")
            wait_ms = POLL_MS - client.now() % POLL_MS
            nodes: list[Node] = list((await client.list(Node)).items)
            pods: list[Pod] = list((await client.list(Pod)).items)
            mine = [p for p in pods if p.spec.scheduler_name == self.name and not p.is_bound]
            if not mine:
                return
            for pod in mine:
                with suppress(ApiError):
                    await self.place(client, pod, nodes, pods)

    async def place(self, client: Client, pod: Pod, nodes: list[Node], pods: list[Pod]) -> None:
        """Bind that pod, or make room for it, if either can be done now."""
        there = [node for node in nodes if asked_m(pod) <= free_m(node, pods)]
        if there:
            await bind(client, pod, there[0].meta.name)
            return
        left = [each for each in pods if not each.meta.is_terminating]
        stay = [each for each in left if each.priority >= pod.priority]
        nominated = pod.status.nominated_node_name
        soon = [node.meta.name for node in nodes if asked_m(pod) <= free_m(node, left)]
        if nominated in soon:
            return
        if nominated:
            await self.nominate(client, pod, "")
        for node in nodes:
            if asked_m(pod) <= free_m(node, stay):
                await self.nominate(client, pod, node.meta.name)
                for victim in left:
                    if victim.spec.node_name == node.meta.name and victim not in stay:
                        await client.delete(victim, whatever_it_was=True)
                return

    async def nominate(self, client: Client, pod: Pod, node: str) -> None:
        """Write the node that is kept for a pod into its status."""
        status = {"status": {"nominatedNodeName": node or None}}
        await client.patch(pod, status, subresource="status")


@attrs.frozen
class SmallKubelet(Actor):
    """Looks each second, and removes each pod that terminates once its grace is over."""

    rank: ClassVar[int] = 2

    async def run(self, client: Client) -> None:
        # Between the looks of the schedulers: then these two meet alone.
        await client.sleep(POLL_MS // 2, "look")
        while True:
            pods: list[Pod] = list((await client.list(Pod)).items)
            for pod in pods:
                until_ms = pod.meta.deleted_ms if pod.is_bound else None
                if until_ms is not None and until_ms <= client.now():
                    await client.delete(pod, whatever_it_was=True, options=Map(grace_s=0))
            await client.sleep(POLL_MS, "look")


@attrs.frozen
class Canceller(Actor):
    """Deletes a pod after that time."""

    pod: str
    after_ms: int

    async def run(self, client: Client) -> None:
        await client.sleep(self.after_ms, "delete the pod")
        await client.delete(Pod(self.pod), whatever_it_was=True)


def kept_room_is_not_taken(see: Evidence) -> str | None:
    """A pod that is bound leaves room for each pod that waits there, nominated, and is as important
    or more. What is less important than that one is as good as gone."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    for change in see.changes:
        old, taker = change.before, change.after
        if not (isinstance(taker, Pod) and isinstance(old, Pod) and taker.is_bound > old.is_bound):
            continue
        name = taker.spec.node_name
        node: Any = see.store.peek(f"nodes/{name}")
        waiting = [p for p in pods if p.status.nominated_node_name == name and not p.is_bound]
        for pod in waiting:
            stay = [p for p in pods if p.priority >= pod.priority or p is taker]
            if pod.priority >= taker.priority and asked_m(pod) > free_m(node.value, stay):
                return f"{name} was kept for {pod.meta.name}, and {taker.meta.name} has taken it"
    return None


class NoPodWaitsForNothing(Invariant):
    """A pod is bound within five seconds once a node has room for it, beside the pods that are
    bound there and what is kept there from it."""

    name = "no_pod_waits_for_nothing"
    reads = frozenset(READS)
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self) -> None:
        self._since: dict[str, int] = {}
        """Since when each of these could have been bound."""
        self._held_ms = 0  # when something was held back while time passed

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        now_ms = evidence.now_ms
        if evidence.changes:
            could = self._could_be_bound(evidence)
            self._since = {said: self._since.get(said, now_ms) for said in could}
        if any(option.due_ms < now_ms for option in evidence.table.pending.held):
            self._held_ms = now_ms
        for said, since_ms in self._since.items():
            if now_ms - max(since_ms, self._held_ms, evidence.last_fault_ms) > WITHIN_MS:
                return said
        return None

    def end(self, evidence: Evidence) -> str | None:
        return next(self._could_be_bound(evidence), None)

    def _could_be_bound(self, evidence: Evidence) -> Iterator[str]:
        """Each pod that waits, and a node with room for it, as a sentence."""
        pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
        nodes: list[Any] = [entry.value for entry in evidence.store.snapshot("nodes/")]
        for pod in pods:
            for node in () if pod.is_bound or pod.meta.is_terminating else nodes:
                if asked_m(pod) <= free_m(node, pods) - kept_m(node, pods, pod):
                    yield f"{pod.meta.name} waits, and {node.meta.name} has room for it"


def kept_seat(
    world: World,
    *,
    names: str = "alpha,beta",
    pods: str = "urgent,late",
    victims: str = "1000/3",
    room_m: int = 1000,
    late_m: int = 1000,
    late_priority: int = 0,
    late_s: int = 0,
    spare_m: int = 0,
    deleted_s: int = 0,
) -> None:
    """A scheduler binds a pod into the room that another one has made by preemption.

    Each victim is given as its cpu and its grace. With `late_s`, the other pod is created by then;
    with `deleted_s`, the first is deleted by then. With `spare_m`, another node has that much room.

    Cause: a nomination is a text in the status of a pod, and only a program that reads it keeps
      the room free.
    Look for: beta binds `late` to n1 while `urgent` is nominated there.
    Source: kubernetes#130429.
    Tags: several-schedulers, nomination, grace-period.
    """
    (alpha, beta), (urgent, late) = _two("names", names), _two("pods", pods)
    world.serve(ApiServer)
    world.add(PriorityClass(Meta("urgent"), value=URGENT), Node.of("n1", cpu_m=room_m))
    world.add(PriorityClass(Meta("late"), value=late_priority))
    if spare_m:
        world.add(Node.of("n2", cpu_m=spare_m))
    sizes = [tuple(map(int, victim.split("/"))) for victim in victims.split(",")]
    last_s = max(late_s, *(grace_s for _, grace_s in sizes))
    for place, (cpu_m, grace_s) in enumerate(sizes, 1):
        world.add(Pod.of(f"v{place}", cpu_m=cpu_m, grace_s=grace_s, node_name="n1"))
    world.add(Pod.of(urgent, cpu_m=1000, priority_class_name="urgent", scheduler_name=alpha))
    waits = Pod.of(late, cpu_m=late_m, priority_class_name="late", scheduler_name=beta)
    if late_s:
        world.start(User("ben", ((late_s * 1000, waits),)))
    else:
        world.add(waits)
    world.start(SmallKubelet("kubelet"), Preemptor(alpha), CarelessBinder(beta))
    if deleted_s:
        world.start(Canceller("ann", urgent, deleted_s * 1000))
    world.limit(virtual_ms_max=last_s * 1000 + LEFT_MS, turns_max=3_000)
    world.claim(always(kept_room_is_not_taken, reads=READS), AsksWithinReason(ASKS_MAX))
    world.claim(always(no_node_is_overcommitted, reads=READS), NoPodWaitsForNothing())


def _two(switch: str, text: str) -> list[str]:
    found = text.split(",")
    if not all(found) or len({*found}) != 2:
        raise ScenarioError(f"{switch}={text}: expected two names with a comma between")
    return found


def _trial(name: str, look: WayToLook, **switches: Any) -> LevelTrial:
    return LevelTrial(name=name, look=look, switches=switches, runs_out=True)


LEVEL = LearnLevel(
    number=7,
    title="the seat is not free until they leave",
    concept=(
        "To make room for a more important pod takes time: the victims terminate first, and take "
        "their room until they are gone. Then the room looks free to everyone. Which pod it was "
        "made for stands only in a text, the nomination, and a text protects nothing unless each "
        "scheduler goes by it. But it keeps the room from less important pods only."
    ),
    build=kept_seat,
    component=BINDER,
    base=Binder,
    careless=CarelessBinder,
    asked=(
        "Another scheduler nominates a pod to a node, and deletes less important pods there, the "
        "victims, to make room. Your scheduler binds its own pods, and deletes none. It "
        "may not take room that is kept: a pod that waits, nominated to a node, must find its "
        "room there, unless your pod is more important than it. No node may be overcommitted. "
        "And your pod must not wait for nothing: it is bound within 5 seconds once a node has "
        "room for it beside the pods that are bound there and what is kept there from it. A "
        "nomination may end at any time, and an answer may be lost: then Unavailable is raised. "
        "Mend `run`."
    ),
    calls=(
        "`self.is_mine(pod)`, `self.bind(client, pod, node)`, `asked_m(pod)`, `free_m(node, "
        "pods)`; `client.list` of Pod and Node, `client.sleep(ms)`. Of a pod: `pod.priority`, "
        "`pod.is_bound`, `pod.spec.node_name`, `pod.status.nominated_node_name`, "
        "`pod.meta.is_terminating`, `pod.meta.name`. Errors are in `testbed`; each is an ApiError."
    ),
    imports="""\
from scenarios.levels.kept_seat import Binder, asked_m, free_m
from testbed import Client
from testbed.objects import Node, Pod
""",
    guess=GuessFirst(
        question=(
            "Pod urgent is nominated to a node, and the victim there has just gone. Both "
            "schedulers see a free node. Pod late is less important. What does the API server do "
            "if the other scheduler binds late to that node?"
        ),
        choices=(
            "it refuses, since the node is kept for urgent",
            "it accepts the bind",
            "it accepts, and deletes late when urgent is bound",
            "it lets the bind wait until urgent is bound",
        ),
        answer=2,
        why=(
            "A nomination is one field in the status of a pod. The API server does not compare it "
            "with any bind. Only schedulers go by it, each as far as it was written to do so."
        ),
    ),
    hints=(
        "When the victim is gone, the node is free. For which pod, and where is that written?",
        "Beside the pods that are bound to a node, count those that wait and are nominated to it: "
        "`status.nominated_node_name` is that node, and `is_bound` is false.",
        "A nomination keeps room only from pods that are less important, or as important. Count "
        "it if its `priority` is at least that of your pod.",
        "`kept = sum(asked_m(p) for p in pods if p.status.nominated_node_name == node.meta.name "
        "and not p.is_bound and p.priority >= pod.priority)`; bind if `asked_m(pod) + kept <= "
        "free_m(node, pods)`. Work it out afresh at each look, and expect an ApiError.",
    ),
    words={
        "room": "The cpu of a node that no pod on it has asked for.",
        "bind": "To write into a pod which node it is on.",
        "scheduler": "A program that binds pods; a pod names one.",
        "priority": "A number; the pod with the larger one is more important.",
        "preemption": "To delete less important pods so that a pod fits.",
        "victim": "A pod that is deleted to make room.",
        "terminate": "Of a pod that was deleted: to run on until its grace is over.",
        "grace": "How long a pod may take to end.",
        "nomination": "The text in the status of a pod that says where room is made for it. To "
        "nominate is to write it.",
        "kept": "Of room: another pod that is as important or more is nominated there.",
        "overcommitted": "Of a node: its pods ask for more than it has.",
        "Unavailable": "The error when no answer came; the request may have been done.",
    },
    incident=RealIncident(
        said=(
            "Two schedulers share the nodes of a cluster. Each knows only the nominations of its "
            "own pods, so one fills the room that the other has made, and pods are deleted for "
            "nothing, again and again."
        ),
        link="https://github.com/kubernetes/kubernetes/issues/130429",
    ),
    trials=(
        _trial("one victim, and room for one pod", FEW),
        _trial("the other pod is as important", FEW, late_priority=URGENT),
        _trial("half of the room is free early", MANY, **HALF),
        _trial("the same, and the other pod is more important", MANY, **HALF, late_priority=200),
        _trial("the urgent pod is deleted", MANY, deleted_s=1),
        _trial("another node has room", MANY, **SPARE),
        _trial("a pod comes later, and both fit", MANY, **BOTH),
        _trial("the same, and an answer is lost", EveryMoment("lose_reply:beta"), **BOTH),
        LevelTrial(name="other names and numbers", look=MANY, is_varied=True, runs_out=True),
    ),
    varied={
        "names": ("gold,tin", "first,second", "ann-s,ben-s", "left,right"),
        "pods": ("vip,web", "db,batch", "p1,p2", "core,edge"),
        "victims": ("1000/2", "600/1,400/3", "500/3,500/2"),
        "late_m": (500, 800, 1000),
        "late_priority": (0, 10, 99, 100),
    },
)
