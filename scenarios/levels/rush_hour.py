"""Level 10, everybody at once: two schedulers, an autoscaler, and all that may go wrong."""

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
from testbed.teaching.looks import EveryMoment, ManyOrders, WayToLook
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step

RUSH = seat("rush")
ROOM_M, GRACE_S, LOOK_MS = 1000, 2, 2_000
WITHIN_MS, ASKS_MAX = 20_000, 80
TWO, EQUALS = "v1/500/0/n1,v2/500/0/n1,x/1000/9/n2", "v/1000/9/n1,x/500/9/n2"
LESSER, LATER = "v/1000/0/n1,x/1000/5/n2", "u/1000/9/1,w/500/0/3"
FOUR, EQUAL = "c/300/0/0,d/700/0/0,e/300/0/1,f/700/0/1", "c/800/9/1,d/300/9/1,e/200/0/1"
ALONE, THERE, LOST = "v/1000/0/n1", "v/600/0/n1", "u/1000/9/1,c/800/0/0,d/300/0/0"
CROWD = "e/600/9/n1,v/200/0/n1,w/200/0/n1,f/600/9/n2,x/400/0/n2"
SHORT, FEW = ManyOrders(20), ManyOrders(6)
READS = ("log:pods.spec", "log:pods.status", "log:pods.meta", "log:nodes")


@attrs.frozen
class RushScheduler(Actor):
    """One of several schedulers: binds the pods that name it, and makes room for important ones."""

    component = RUSH

    names: tuple[str, ...] = ()
    """The names of all schedulers; each runs this program."""

    def is_mine(self, pod: Pod) -> bool:
        """Whether a pod names this scheduler and is on no node."""
        return pod.spec.scheduler_name == self.name and not pod.is_bound

    async def bind(self, client: Client, pod: Pod, node: Node) -> None:
        """Bind a pod to a node. Conflict if the pod has a node; the node itself is not checked."""
        await bind(client, pod, node.meta.name)

    async def nominate(self, client: Client, pod: Pod, node: str) -> None:
        """Write the node that is kept for a pod into its status; empty: none is."""
        status = {"status": {"nominatedNodeName": node or None}}
        await client.patch(pod, status, subresource="status")


class CarelessRushScheduler(RushScheduler):
    """Looks each two seconds; right as long as it is alone and nothing fails."""

    async def run(self, client: Client) -> None:
        while True:
            pods: list[Pod] = list((await client.list(Pod)).items)
            for pod in sorted(filter(self.is_mine, pods), key=lambda pod: -pod.priority):
                await self.place(client, pod)
            await client.sleep(2_000)

    async def place(self, client: Client, pod: Pod) -> None:
        """Bind that pod, or make room for it."""
        nodes: list[Node] = list((await client.list(Node)).items)
        pods: list[Pod] = list((await client.list(Pod)).items)
        for node in nodes:
            if asked_m(pod) + kept_m(node, pods, pod) <= free_m(node, pods):
                await self.bind(client, pod, node)
                return
        stay = [each for each in pods if each.priority >= pod.priority]
        for node in nodes if not pod.status.nominated_node_name else ():
            if asked_m(pod) + kept_m(node, pods, pod) <= free_m(node, stay):
                await self.nominate(client, pod, node.meta.name)
                for victim in pods:
                    if victim.spec.node_name == node.meta.name and victim not in stay:
                        await client.delete(victim, whatever_it_was=True)
                return


@attrs.frozen
class RestOfCluster(Actor):
    """What kubelets, the garbage collector, an operator and an autoscaler do, every two seconds.

    1. The operator removes a node when its time has come.
    2. A pod is removed when its node is gone, or when it terminates and its grace is over.
    3. A node is added for a pod that waits at two looks, fits nowhere and is nominated nowhere.
    """

    rank: ClassVar[int] = 2

    gone: str = ""
    """The node that is removed, with the second: `n1/4`."""
    grows: int = 0
    """How many nodes may be added."""

    async def run(self, client: Client) -> None:
        waited: set[str] = set()
        await client.sleep(LOOK_MS // 2, "look")
        while True:
            with suppress(ApiError):
                waited = await self.look(client, waited)
            await client.sleep(LOOK_MS, "look")

    async def look(self, client: Client, waited: set[str]) -> set[str]:
        """Look once; returns the pods that wait for a node that an autoscaler could add."""
        nodes: list[Node] = list((await client.list(Node)).items)
        name, _, at_s = self.gone.partition("/")
        for node in [node for node in nodes if node.meta.name == name]:
            if client.now() >= int(at_s) * 1000:
                await client.delete(node, whatever_it_was=True)
                nodes.remove(node)
        pods: list[Pod] = list((await client.list(Pod)).items)
        for pod in [pod for pod in pods if pod.is_bound]:
            is_lost = pod.spec.node_name not in [node.meta.name for node in nodes]
            if is_lost or (pod.meta.deleted_ms or client.now() + 1) <= client.now():
                await client.delete(pod, whatever_it_was=True, options=Map(grace_s=0))
        waits = {p.meta.name for p in pods if not (p.is_bound or p.status.nominated_node_name)}
        for pod in pods:
            grown = sum(node.meta.name.startswith("grown") for node in nodes)
            fits = any(asked_m(pod) <= free_m(node, pods) for node in nodes)
            if pod.meta.name in waits & waited and grown < self.grows and not fits:
                nodes.append(await client.create(Node.of(f"grown-{grown + 1}", cpu_m=ROOM_M)))
        return waits


def _all(see: Evidence, kind: str) -> list[Any]:
    return [entry.value for entry in see.store.snapshot(kind)]


def kept_room_is_not_taken(see: Evidence) -> str | None:
    """A pod that is bound leaves room for each as important or more that is nominated there."""
    pods = _all(see, "pods/")
    for change in see.changes:
        old, taker = change.before, change.after
        if not (isinstance(taker, Pod) and isinstance(old, Pod) and taker.is_bound > old.is_bound):
            continue
        for node in [n for n in _all(see, "nodes/") if n.meta.name == taker.spec.node_name]:
            name = node.meta.name
            for pod in [p for p in pods if p.status.nominated_node_name == name and not p.is_bound]:
                stay = [p for p in pods if p.priority >= pod.priority or p is taker]
                if pod.priority >= taker.priority and asked_m(pod) > free_m(node, stay):
                    return f"{name} was kept for {pod.meta.name}; {taker.meta.name} has taken it"
    return None


def no_more_is_deleted_than_it_takes(see: Evidence) -> str | None:
    """A pod is deleted from its node only while more important ones wait, and these have no room
    beside all pods that stay. A node that was added may be unknown yet, so it does not count."""
    pods, nodes = _all(see, "pods/"), _all(see, "nodes/")
    stay = [pod for pod in pods if not pod.meta.is_terminating]
    there = [node.meta.name for node in nodes]
    for old in [each.before for each in see.changes if each.after not in stay]:
        if not isinstance(old, Pod) or old.meta.is_terminating or old.spec.node_name not in there:
            continue
        more = [pod for pod in pods if pod.priority > old.priority and not pod.is_bound]
        free = [free_m(n, [*stay, old]) for n in nodes if not n.meta.name.startswith("grown")]
        if _have_room(free, [*map(asked_m, more)]):
            why = "there is room" if more else "no pod waits that is more important"
            return f"{old.meta.name} is deleted, and {why}"
    return None


def _have_room(free: list[int], asked: list[int]) -> bool:
    """Whether there is a place for each of the pods that ask for so much."""
    more, places = asked[1:], [n for n, left in enumerate(free) if asked and asked[0] <= left]
    less = [[*free[:n], free[n] - asked[0], *free[n + 1 :]] for n in places]
    return not asked or any(_have_room(left, more) for left in less)


class EachPodThatFitsRuns(Invariant):
    """A pod is bound soon once it fits beside those as important or more, or a node may come."""

    name = "each_pod_that_fits_runs"
    reads = frozenset(READS)
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self, grows: int) -> None:
        self._grows = grows
        self._since: dict[str, int] = {}
        self._held_ms = 0  # when something was held back while time passed

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        now_ms = evidence.now_ms
        if evidence.changes:
            could = self._could_run(evidence)
            self._since = {said: self._since.get(said, now_ms) for said in could}
        if any(option.due_ms < now_ms for option in evidence.table.pending.held):
            self._held_ms = now_ms
        for said, since_ms in self._since.items():
            if now_ms - max(since_ms, self._held_ms, evidence.last_fault_ms) > WITHIN_MS:
                return said
        return None

    def end(self, evidence: Evidence) -> str | None:
        return next(self._could_run(evidence), None)

    def _could_run(self, evidence: Evidence) -> Iterator[str]:
        pods, nodes = _all(evidence, "pods/"), _all(evidence, "nodes/")
        grown = sum(node.meta.name.startswith("grown") for node in nodes)
        for pod in pods:
            stay = [each for each in pods if each.priority >= pod.priority]
            fits = any(asked_m(pod) <= free_m(node, stay) for node in nodes)
            if not pod.is_bound and (fits or grown < self._grows):
                yield f"{pod.meta.name} waits, and could run"


def rush_hour(
    world: World,
    *,
    names: str = "alpha,beta",
    nodes: str = "n1",
    runs: str = "",
    pods: str = "c/800/0/0,d/800/0/0",
    gone: str = "",
    grows: int = 0,
    ends_s: int = 30,
) -> None:
    """Schedulers share a cluster in which pods come, nodes go, and others are added.

    A pod is given as name, cpu, priority and the second in which it comes; one that runs already
    with its node in that place. A node that is removed is given with the second.

    Cause: each program acts on what it has read, and all of them act at once.
    Look for: what each of them knew when it acted.
    Source: kubernetes#72043, kubernetes#130429.
    Tags: several-schedulers, nomination, grace-period, stale-cache, scale-up.
    """
    owners = tuple(names.split(","))
    if not all(owners) or len({*owners}) < len(owners):
        raise ScenarioError(f"names={names}: expected names, each once, with commas between")
    world.serve(ApiServer)
    world.add(*(Node.of(node, cpu_m=ROOM_M) for node in nodes.split(",")))
    comes, there = ([p.split("/") for p in text.split(",") if p] for text in (pods, runs))
    for of in sorted({int(each[2]) for each in [*comes, *there]}):
        world.add(PriorityClass(Meta(f"p{of}"), value=of))
    world.add(*(_pod(*each, node_name=node) for *each, node in there))
    owned = [(owners[place % len(owners)], each) for place, each in enumerate(comes)]
    creates = [(int(s), _pod(*each, scheduler_name=of)) for of, (*each, s) in owned]
    world.add(*(pod for at_s, pod in creates if not at_s))
    later = tuple((at_s * 1000, pod) for at_s, pod in creates if at_s)
    world.start(User("ann", later), RestOfCluster("rest", gone, grows))
    world.start(*(CarelessRushScheduler(owner, owners) for owner in owners))
    world.limit(virtual_ms_max=ends_s * 1000, turns_max=8_000)
    claims = (no_node_is_overcommitted, kept_room_is_not_taken, no_more_is_deleted_than_it_takes)
    world.claim(*(always(claim, reads=READS) for claim in claims))
    world.claim(AsksWithinReason(ASKS_MAX), EachPodThatFitsRuns(grows))


def _pod(name: str, cpu_m: str, value: str, **spec: Any) -> Pod:
    return Pod.of(name, cpu_m=int(cpu_m), grace_s=GRACE_S, priority_class_name=f"p{value}", **spec)


def _trial(name: str, look: WayToLook, *faults: str, **switches: Any) -> LevelTrial:
    return LevelTrial(name=name, look=look, switches=switches, faults=faults, runs_out=True)


def _scored(name: str, **switches: Any) -> LevelTrial:
    return attrs.evolve(_trial(name, FEW, **switches), is_scored=True)


LEVEL = LearnLevel(
    number=10,
    title="everybody at once",
    concept=(
        "Each program of a cluster is right by what it has read, and all of them write at once. A "
        "scheduler that binds, makes room and waits must agree with the other schedulers on one "
        "object, bear that any answer is lost, and never wait for somebody who waits for it."
    ),
    build=rush_hour,
    scored_by=("api_writes", "time_to_bind"),
    component=RUSH,
    base=RushScheduler,
    careless=CarelessRushScheduler,
    asked=(
        "Several schedulers, each of which runs your program, bind the pods that name them. Make "
        "each pod run within 20 seconds once a node has room for it beside the pods that are as "
        "important or more. For that you may delete less important pods, the victims, while a "
        "more important one waits: no more of them than it takes. No node may be overcommitted; a "
        "pod that terminates takes its room until it is gone. Room that a nomination keeps may go "
        "to a more important pod only. An autoscaler adds a node for a pod that fits nowhere, if "
        "it is nominated nowhere. Nodes may be removed, answers lost; a scheduler may stall, or "
        "crash and start again two seconds later. Mend `run` and `place`, in forty lines."
    ),
    calls=(
        "`self.is_mine(pod)`, `self.bind(client, pod, node)`, `self.nominate(client, pod, name)` "
        "with an empty name to take it back, `self.names` of all schedulers; `asked_m(pod)`, "
        "`free_m(node, pods)`, and `kept_m(node, pods, pod)`: what nominations keep there from "
        "that pod. `client.get`, `list`, `create`, `update`, `delete` of Pod, Node and Note; a "
        "Note has `data`, and `note.saying(key='text')` is one with another text. `update` and "
        "`delete` raise Conflict if the object has changed, `create` raises AlreadyExists; no "
        "answer is Unavailable. Each is an ApiError of `testbed.errors`."
    ),
    imports="""\
from scenarios.levels.rush_hour import RushScheduler, asked_m, free_m, kept_m
from testbed import Client
from testbed.objects import Node, Pod
""",
    guess=GuessFirst(
        question=(
            "Pod u waits for room on the node to which it is nominated, and that node is removed. "
            "The autoscaler adds no node for a pod that is nominated. How long does u wait?"
        ),
        choices=("until the nomination is too old", "until a pod is deleted elsewhere", "for ever"),
        answer=3,
        why=(
            "A nomination has no time limit. The autoscaler waits for the scheduler to bind u, and "
            "the scheduler waits for room on a node that is gone. One of them must look again."
        ),
    ),
    hints=(
        "Let one scheduler decide at a time: the one that could create a Note, with its name in "
        "it, so that it knows its Note after a crash or a lost answer. No other may delete it.",
        "Read the nodes and the pods afresh for each pod, once the Note is yours. A pod fits if "
        "`asked_m(pod) + kept_m(node, pods, pod) <= free_m(node, pods)`.",
        "If it fits nowhere, see where it would fit beside the pods that are as important or more. "
        "Nominate it there first, then delete victims, until it fits beside the pods that stay.",
        "Ask that again at each look. If its node is gone or helps no more, nominate it elsewhere, "
        "or take the nomination back, so that the autoscaler adds a node. Wrap each look in "
        "`with suppress(ApiError):` and go on after a sleep.",
    ),
    words={
        "room": "The cpu of a node that no pod on it has asked for.",
        "bind": "To write into a pod which node it is on.",
        "priority": "A number; the pod with the larger one is more important.",
        "victim": "A pod that is deleted to make room.",
        "terminate": "Of a pod that was deleted: to run on until its grace is over.",
        "nominate, nomination": "To write into the status of a pod where room is made for it.",
        "kept": "Of room: a pod that is as important or more is nominated there.",
        "overcommitted": "Of a node: its pods ask for more than it has.",
        "autoscaler": "A program that adds nodes for pods that fit nowhere.",
        "Note": "A small object with a few named texts, like a ConfigMap.",
        "Conflict": "The refusal of a write to an object that has changed since it was read.",
        "Unavailable": "The error when no answer came; the request may have been done.",
    },
    incident=RealIncident(
        said="A pod stayed nominated to a node that was gone, and so the autoscaler added none.",
        link="https://github.com/kubernetes/autoscaler/issues/3846",
    ),
    trials=(
        _trial("one node, two pods", SHORT, ends_s=6),
        _trial("the same, and a scheduler stalls", EveryMoment("stall:alpha,by=5s"), ends_s=7),
        _scored("three nodes, four pods", nodes="n1,n2,n3", pods=FOUR),
        _scored("an urgent pod comes", nodes="n1,n2", runs=TWO, pods="u/1000/9/1"),
        _trial("a pod comes before it runs", FEW, nodes="n1,n2", runs=TWO, pods=LATER),
        _trial("no pod is more important", FEW, nodes="n1,n2", runs=EQUALS, pods=EQUAL),
        _scored("one victim is enough", nodes="n1,n2", runs=CROWD, pods="u/200/9/1"),
        _scored("two urgent pods", nodes="n1,n2", runs=LESSER, pods="u/1000/9/1,t/1000/9/1"),
        _scored("a node is added", pods="c/800/0/0,d/800/0/0,e/800/0/1", grows=2),
        _scored("a node is removed", runs=ALONE, pods="u/1000/9/0", gone="n1/1", grows=1),
        _trial("answers are lost", FEW, "2*lose_reply", nodes="n1,n2", runs=THERE, pods=LOST),
        _trial("a scheduler crashes", FEW, "crash,restart=2s", nodes="n1,n2", runs=TWO, pods=LATER),
        LevelTrial(name="other names, pods and nodes", look=FEW, is_varied=True, runs_out=True),
    ),
    varied={
        "names": ("red,blue", "east,west", "s1,s2,s3"),
        "nodes": ("m1,m2", "rack-a,rack-b,rack-c"),
        "pods": (
            "p1/700/0/0,p2/700/0/0,p3/300/3/1",
            "web/900/1/0,db/900/7/0,job/200/0/1,log/900/9/2",
        ),
        "grows": (0, 1),
    },
)
