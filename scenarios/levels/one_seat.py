"""Level 6, one seat and two ushers: two schedulers bind two pods into the same room."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.shared.cpu import asked_m, free_m, no_node_is_overcommitted
from actors.shared.verbs import bind
from testbed import Actor, Client, Conflict, Evidence, Invariant, World, always
from testbed.errors import ScenarioError
from testbed.invariant import SERVED, TURN
from testbed.objects import Node, Pod
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, EveryOrder, ManyOrders
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step

USHER = seat("usher")
ROOM_M = 1000
"""The cpu of each node."""
WITHIN_MS = 10_000
"""How soon a pod must be bound after it could be."""
CONFLICTS_MAX = 2
"""How often a scheduler may be refused with Conflict for each pod that it has to bind."""
ASKS_MAX = 60
"""How often one scheduler may ask in a second."""
TURNS_MAX = 1_500
"""In one instant; more than both may ask."""
FEW = EveryOrder(runs_max=60, random_max=20)


@attrs.frozen
class Usher(Actor):
    """A small scheduler: binds each pod that names it to a node with room."""

    component = USHER

    def is_mine(self, pod: Pod) -> bool:
        """Whether a pod names this scheduler and is on no node."""
        return pod.spec.scheduler_name == self.name and not pod.is_bound

    async def bind(self, client: Client, pod: Pod, node: Node) -> None:
        """Bind a pod to a node. Conflict if the pod has a node; the node itself is not checked."""
        await bind(client, pod, node.meta.name)


class CarelessUsher(Usher):
    """Binds each of its pods to the first node that has room for it."""

    async def run(self, client: Client) -> None:
        listed: list[Pod] = list((await client.list(Pod)).items)
        for pod in filter(self.is_mine, listed):
            nodes: list[Node] = list((await client.list(Node)).items)
            for node in nodes:
                pods: list[Pod] = list((await client.list(Pod)).items)
                if asked_m(pod) <= free_m(node, pods):
                    await self.bind(client, pod, node)
                    break


class FewConflicts(Invariant):
    """A scheduler is refused with Conflict at most twice for each pod that it has to bind. Each of
    these requests was for nothing, and more of them are a hot loop."""

    name = "few_conflicts"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def __init__(self, pods_each: int) -> None:
        self._most = CONFLICTS_MAX * pods_each
        self._refused: dict[str, int] = {}

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        request = evidence.served
        if request is None or not request.is_served or not isinstance(request.error, Conflict):
            return None
        name = request.role.name
        self._refused[name] = times = self._refused.get(name, 0) + 1
        if times <= self._most:
            return None
        return f"{name} got Conflict {times} times, last for {request.operation}"


class NoPodWaitsBesideRoom(Invariant):
    """No pod is without a node for more than ten seconds while a node has room for it."""

    name = "no_pod_waits_beside_room"
    reads = frozenset({"log:pods.spec", "log:nodes.status"})
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self) -> None:
        self._held_ms = 0
        """When something was held back for the last time, while time passed."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        now_ms = evidence.now_ms
        if any(option.due_ms < now_ms for option in evidence.table.pending.held):
            self._held_ms = now_ms
        is_late = now_ms > max(evidence.last_fault_ms, self._held_ms) + WITHIN_MS
        return self.end(evidence) if is_late else None

    def end(self, evidence: Evidence) -> str | None:
        pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
        nodes: list[Any] = [entry.value for entry in evidence.store.snapshot("nodes/")]
        for pod in pods:
            for node in nodes if not pod.is_bound else ():
                if asked_m(pod) <= free_m(node, pods):
                    return f"{pod.meta.name} is on no node, and {node.meta.name} has room for it"
        return None


def one_seat(
    world: World,
    *,
    names: str = "alpha,beta",
    nodes: str = "n1",
    pods: str = "c,d",
    cpu_m: int = 800,
    ends_s: int = 16,
) -> None:
    """Schedulers race for the room on a node; the bind itself checks only the pod.

    Cause: each scheduler counts by its own cache, and the API server checks a bind against the pod
      alone, not against the node.
    Look for: a bind by a list in which the other pod is on no node, after that pod was bound.
    Source: kubernetes#72043.
    Tags: several-schedulers, stale-cache, check-then-act.
    """
    world.serve(ApiServer)
    world.add(*(Node.of(node, cpu_m=ROOM_M) for node in _listed("nodes", nodes)))
    listed, owners = _listed("pods", pods), _listed("names", names)
    for place, pod in enumerate(listed):
        owner = owners[place % len(owners)]
        world.add(Pod.of(pod, cpu_m=cpu_m, scheduler_name=owner))
    world.start(*map(CarelessUsher, owners))
    world.limit(virtual_ms_max=ends_s * 1000, instant_turns_max=TURNS_MAX)
    reads = ("log:pods.spec", "log:nodes.status")
    world.claim(always(no_node_is_overcommitted, reads=reads), AsksWithinReason(ASKS_MAX))
    world.claim(FewConflicts(-(-len(listed) // len(owners))), NoPodWaitsBesideRoom())


def _listed(switch: str, text: str) -> list[str]:
    found = text.split(",")
    if not all(found) or len({*found}) < len(found):
        raise ScenarioError(f"{switch}={text}: expected names, each once, with commas between")
    return found


LEVEL = LearnLevel(
    number=6,
    title="one seat, two ushers",
    concept=(
        "Two programs may each be right by what they have read, and wrong together. Some rules "
        "are about several objects: the pods on a node may not ask for more than its room. Find "
        "one object for such a rule that each of the programs must write; then a Conflict tells "
        "one of them that it has read too little."
    ),
    build=one_seat,
    component=USHER,
    base=Usher,
    careless=CarelessUsher,
    asked=(
        "Several small schedulers bind pods to the same nodes, each the pods that name it. The cpu "
        "that the pods on a node ask for may never be more than the node has. A pod for which a "
        "node has room must be bound within 10 seconds. A scheduler may get at most two Conflicts "
        "for each of its pods. An answer may be lost: then Unavailable is raised, though the "
        "request was done. A scheduler may stall, or crash and start again two seconds later with "
        "empty memory. No room comes free here: `run` may return once its pods are bound, or fit "
        "nowhere. Mend `run`."
    ),
    calls=(
        "`self.bind(client, pod, node)` raises Conflict if the pod has a node; "
        "`pod.spec.node_name` is its name, empty if there is none. `asked_m(pod)` is the cpu that "
        "a pod asks for, `free_m(node, pods)` what a node has left beside those of `pods` that "
        "are bound to it: it counts nothing else, and `free_m(node, [])` is all of the node. "
        "`client.get`, `list`, `create`, `update` and `delete` are for Pod, Node and Note; "
        "`Note('lock')` is a Note of that name, to create. `node.meta.annotations` are the texts "
        "on a node, by key: `.get(key, '')` reads one, and `.having(key='text')` is a copy with "
        "one set, for `client.update(node.with_meta(annotations=...))`. `update` raises Conflict "
        "if the object has changed since it was read, `create` AlreadyExists, `get` and `delete` "
        "NotFound. Errors are in `testbed` and `testbed.errors`."
    ),
    imports="""\
from scenarios.levels.one_seat import Usher, asked_m, free_m
from testbed import Client
from testbed.objects import Node, Pod
""",
    guess=GuessFirst(
        question=(
            "A node has 1000m. Pod c of alpha and pod d of beta ask for 800m each. Both schedulers "
            "send their bind at the same moment. What does the API server do?"
        ),
        choices=(
            "it refuses the second bind, since the node is full",
            "it refuses the second bind with Conflict, since the pods have changed",
            "it accepts both",
            "it lets the second bind wait",
        ),
        answer=3,
        why=(
            "The API server checks a bind against its own pod: whether that pod has a node. It "
            "does not look at the room that is left, and the two pods are two objects."
        ),
    ),
    hints=(
        "Each bind changes another pod, so neither of them is refused. Which object could both "
        "schedulers write, so that one of them is refused?",
        "Read the node, then the pods. If there is room, add the name of the pod to one "
        "annotation of the node, behind the names that are there, by `update` of what you have "
        "read. A Conflict says that another pod was written there since: begin again.",
        "Count what is reserved on the node, not only what is bound: between the reservation and "
        "the bind a pod is on no node yet. A pod that is both counts once.",
        "It must do no harm to reserve twice. If your pod is in the annotation already, you "
        "or your life before the crash have reserved it: go on to the bind. After Unavailable or "
        "Conflict, sleep a little, list the nodes and the pods again, and begin again.",
    ),
    words={
        "room": "The cpu of a node that no pod on it has asked for.",
        "node": "A machine that runs pods.",
        "pod": "What is to run; it asks for some cpu.",
        "bind": "To write into a pod which node it is on.",
        "scheduler": "A program that binds pods; a pod names one.",
        "overcommitted": "Of a node: its pods ask for more than it has.",
        "Conflict": "The refusal of a write to an object that has changed since it was read.",
        "annotation": "A text on an object, with a key.",
        "reservation": "An annotation on the node that keeps room there for a pod.",
        "Unavailable": "The error when no answer came; the request may have been done.",
        "lost": "Of an answer: it never arrived.",
        "crash": "A program dies, and what it knew is gone.",
    },
    incident=RealIncident(
        said=(
            "Two schedulers of one cluster fill the same node, as this issue tells. The API server "
            "accepts both binds, and only the kubelet refuses one of the pods."
        ),
        link="https://github.com/kubernetes/kubernetes/issues/72043",
    ),
    trials=(
        LevelTrial(name="one node, with room for one pod", look=FEW, runs_out=True),
        LevelTrial(
            name="two nodes, each with room for one pod",
            look=FEW,
            switches={"nodes": "n1,n2"},
            runs_out=True,
        ),
        LevelTrial(
            name="one node, with room for both pods",
            look=FEW,
            switches={"cpu_m": 500},
            runs_out=True,
        ),
        LevelTrial(
            name="two nodes, and an answer is lost",
            look=EveryOrder(runs_max=150, random_max=20),
            switches={"nodes": "n1,n2"},
            faults=("lose_reply",),
            runs_out=True,
        ),
        LevelTrial(
            name="two nodes, and a scheduler crashes",
            look=ManyOrders(40),
            switches={"nodes": "n1,n2"},
            faults=("crash,restart=2s",),
            runs_out=True,
        ),
        LevelTrial(
            name="one node, and a scheduler stalls",
            look=EveryMoment("stall,by=5s"),
            switches={"ends_s": 7},
            runs_out=True,
        ),
        LevelTrial(
            name="other names, nodes and pods", look=ManyOrders(40), is_varied=True, runs_out=True
        ),
    ),
    varied={
        "names": ("red,blue", "east,west", "s1,s2", "first,second"),
        "nodes": ("m1,m2", "rack-a,rack-b,rack-c", "big", "x,y"),
        "pods": ("p1,p2,p3", "web,db,job,log", "a,b"),
        "cpu_m": (300, 400, 600, 800),
    },
)
