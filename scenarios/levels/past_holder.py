"""Level 8, the king is dead and still signs: a bind of a past holder of the lease lands late."""

from __future__ import annotations

from typing import Any, cast

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Client, Evidence, Invariant, NotFound, World, always
from testbed.errors import ScenarioError
from testbed.invariant import COMMIT, SERVED, TURN
from testbed.objects import Lease, Meta, Node, Pod, PriorityClass, Revision
from testbed.objects.lease import LeaseSpec
from testbed.objects.meta import UNSET, evolved
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, ManyOrders, WayToLook
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step

HOLDER = seat("holder")
LEASE_MS, RENEW_MS, ENDS_MS = 15_000, 5_000, 35_000
"""How long others leave a lease alone that does not change; how often each replica looks at it; up
to when a Run is judged, as a lease is renewed for ever."""
LATE_MS = 2 * LEASE_MS
"""How soon every node must have its pod, whatever has happened to one replica."""
ASKS_MAX, TURNS_MAX = 60, 1_500
STALL, CUT_OFF = "stall,by=45s", "partition,for=45s"
THREE = {"nodes": "n1,n2,n3", "pods": "a,c,d,b"}
URGENT = PriorityClass("urgent", value=10, preemption_policy="Never")


@attrs.frozen
class Holder(Actor):
    """One of two replicas of a scheduler. The one that holds the lease binds pods."""

    component = HOLDER

    lease: str = "lease"
    """The name of the Lease."""
    nodes: tuple[str, ...] = ()
    """The nodes; each takes one pod."""

    def stand(self, client: Client) -> None:
        """Stand for election, from now on: take the lease if it is free, and renew it."""
        client.spawn("election", self._elect, client)

    async def term(self, client: Client) -> int | None:
        """Read the lease: the number of this replica's term if it is the holder, else None. A later
        term has a larger number."""
        try:
            found = await client.get(Lease, self.lease)
        except NotFound:
            return None
        return found.spec.transitions if found.spec.holder == _me(client) else None

    def free(self, pods: list[Pod]) -> list[str]:
        """The nodes to which none of these pods is bound."""
        taken = {pod.spec.node_name for pod in pods}
        return [node for node in self.nodes if node not in taken]

    async def bind(
        self,
        client: Client,
        pod: Pod,
        node: str,
        *,
        revision: Revision = UNSET,
        timeout_ms: int | None = None,
    ) -> None:
        """Bind a pod to a node. Conflict if the pod has a node, or has changed since `revision`."""
        await bind(client, pod, node, revision=revision, timeout_ms=timeout_ms)

    async def touch(self, client: Client, pod: Pod, text: str) -> None:
        """Write a text into an annotation of the pod. With another text than before, the pod gets
        a new revision."""
        await client.patch(pod, {"metadata": {"annotations": {"touched": text}}})

    async def _elect(self, client: Client) -> None:
        seen, since_ms = LeaseSpec(), client.elapsed()
        while True:
            try:
                lease = await client.get(Lease, self.lease)
                if lease.spec != seen:
                    seen, since_ms = lease.spec, client.elapsed()
                changes = seen.transitions or 0
                if seen.holder != _me(client) and client.elapsed() >= since_ms + LEASE_MS:
                    changes += 1
                if changes != seen.transitions or seen.holder == _me(client):
                    lease = await client.update(evolved(lease, spec=_held(client, changes)))
                    seen, since_ms = lease.spec, client.elapsed()
            except NotFound:
                await self._begin(client)
            except ApiError:
                pass
            # All look at the same instants, so the World comes to rest when no more is to do.
            await client.sleep(RENEW_MS - client.elapsed() % RENEW_MS, "renew")

    async def _begin(self, client: Client) -> None:
        try:
            await client.create(Lease(Meta(self.lease), spec=_held(client, 0)))
        except ApiError:
            return


def _me(client: Client) -> str:
    """What the lease calls the holder: each life is another one."""
    return f"{client.name}_{client.life}"


def _held(client: Client, changes: int) -> LeaseSpec:
    return LeaseSpec(_me(client), LEASE_MS // 1000, None, client.now(), changes)


class CarelessHolder(Holder):
    """Binds the most important pod whenever the lease says that it is the holder."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            pods: list[Pod] = list((await client.list(Pod)).items)
            if not self.free(pods):
                return
            waiting = [pod for pod in pods if not pod.is_bound]
            try:
                if await self.term(client) is not None and waiting:
                    pod = max(waiting, key=lambda each: each.priority)
                    await self.bind(client, pod, self.free(pods)[0])
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class NoPastHolderBinds(Invariant):
    """Once a holder has bound a pod in its term, no bind of an older term lands."""

    name = "no_past_holder_binds"
    looks_at = frozenset({COMMIT})
    reads = frozenset({"log:pods.spec", "log:leases"})

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        """The last term of each replica."""
        self._last: tuple[int, str] = (-1, "")
        """The latest term in which a pod was bound, and what was done then."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        who = "" if evidence.served is None else evidence.served.role.name
        for change in evidence.changes:
            new: Any = change.after
            if isinstance(new, Lease):
                self._terms[who] = new.spec.transitions or 0
            old: Any = None if change.old is None else change.old.value
            if isinstance(new, Pod) and new.is_bound and old is not None and not old.is_bound:
                term, did = self._terms.get(who, -1), f"{who} bound {new.meta.name}"
                if term < 0:
                    return f"{did}, and has never held the lease"
                if term < self._last[0]:
                    return f"{did} as a past holder: {self._last[1]} before"
                self._last = (term, f"{did} in a later term")
        return None


def no_node_has_two_pods(see: Evidence) -> str | None:
    """Every node has one pod at most."""
    on: dict[str, str] = {}
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        node, name = pod.spec.node_name, pod.meta.name
        if node and on.setdefault(node, name) != name:
            return f"{on[node]} and {name} are both on {node}, which takes one"
    return None


class ImportantGoesFirst(Invariant):
    """A replica binds no pod while a more important one waits that was in its last list."""

    name = "the_most_important_goes_first"
    looks_at = frozenset({SERVED})
    reads = frozenset({"log:pods.spec"})

    def __init__(self) -> None:
        self._seen: dict[str, list[str]] = {}
        """By replica, the keys of the pods in its last list."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        request, store = evidence.served, evidence.store
        if request is None or not request.is_served:
            return None
        who, operation = request.role.name, request.operation
        if operation.asked == "list" and operation.plural == Pod.plural:
            self._seen[who] = [entry.key for entry in store.snapshot("pods/")]
        if operation.asked != "create/binding" or request.error is not None:
            return None
        entries = [store.peek(key) for key in (operation.key, *self._seen.get(who, ()))]
        bound, *others = [cast(Pod, entry.value) for entry in entries if entry is not None]
        for pod in others:
            if pod.priority > bound.priority and not pod.is_bound:
                name = bound.meta.name
                return (
                    f"{who} bound {name}, and had listed {pod.meta.name}, which is more important"
                )
        return None


class EveryNodeGetsAPod(Invariant):
    """No node is without a pod for longer than two leases."""

    name = "every_node_gets_a_pod"
    looks_at = frozenset({TURN})
    reads = frozenset({"log:pods.spec"})

    def __init__(self) -> None:
        self._since_ms = 0

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        if evidence.table.pending.held:
            self._since_ms = evidence.now_ms
        return self.end(evidence) if evidence.now_ms > self._since_ms + LATE_MS else None

    def end(self, evidence: Evidence) -> str | None:
        pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
        taken = {pod.spec.node_name for pod in pods}
        for entry in evidence.store.snapshot("nodes/"):
            node: Any = entry.value
            if node.meta.name not in taken:
                after_s = evidence.now_ms // 1000
                return f"{node.meta.name} has no pod after {after_s} s, and none is about to come"
        return None


def past_holder(
    world: World,
    *,
    names: str = "alpha,beta",
    nodes: str = "n1",
    pods: str = "a,b",
    lease: str = "lease",
    urgent_ms: int = 3_500,
    request_ms: int = 0,
) -> None:
    """The holder of a lease is away for longer than the lease; then what it had decided lands.

    Cause: a bind carries no proof of who holds the lease when it lands.
    Look for: a bind of the first replica that lands after the second has bound another pod.
    Source: kubernetes#65257.
    Tags: several-schedulers, stale-cache, check-then-act, silent.
    """
    places, (urgent, *others) = tuple(nodes.split(",")), reversed(pods.split(","))
    if len(others) < len(places):
        raise ScenarioError(f"pods={pods}: expected more of them than nodes, which are {nodes}")
    world.serve(ApiServer)
    world.add(URGENT, *(Node.of(node, cpu_m=1000) for node in places))
    world.add(*(Pod.of(pod, cpu_m=800) for pod in reversed(others)))
    for name in names.split(","):
        world.start(CarelessHolder(name, lease, places))
    if request_ms:
        world.latency("* *", serve_ms=request_ms)
    late = Pod.of(urgent, cpu_m=800, priority_class_name=URGENT.meta.name)
    world.start(User("user", creates=((urgent_ms, late),)))
    world.limit(until_ms=ENDS_MS, instant_turns_max=TURNS_MAX)
    world.claim(
        NoPastHolderBinds(),
        always(no_node_has_two_pods, reads=("log:pods.spec",)),
        ImportantGoesFirst(),
        EveryNodeGetsAPod(),
        AsksWithinReason(ASKS_MAX),
    )


def _trial(name: str, look: WayToLook, *faults: str, **switches: Any) -> LevelTrial:
    return LevelTrial(name=name, look=look, switches=switches, faults=faults, runs_out=True)


LEVEL = LearnLevel(
    number=8,
    title="the king is dead and still signs",
    concept=(
        "A lease says who may act, until it runs out. But a program cannot know that it still "
        "holds the lease when its request lands: it may be away in between, or its request may be "
        "late. The API server does not compare a bind with any lease. So the new holder must "
        "change what the old one has read, and each act must name the revision that it has read. "
        "Then what comes late is refused."
    ),
    build=past_holder,
    component=HOLDER,
    base=Holder,
    careless=CarelessHolder,
    has_map=False,
    asked=(
        "Two replicas of a small scheduler take turns by a lease of 15 seconds. Each node takes "
        "one pod, the most important one that waits when the holder decides. Once a holder has "
        "bound a pod, no bind of a past holder may land, and no node may get two pods. Every node "
        "must have its pod within 30 seconds. A replica may be away for 45 seconds at any moment, "
        "or be cut off so that what it has sent lands 45 seconds later, or crash. Mend `run`; the "
        "election is done for you by `self.stand`."
    ),
    calls=(
        "`client.list(Pod)`; `await self.term(client)` reads the lease: the number of your term, "
        "or None if you are not the holder. `await self.bind(client, pod, node, "
        "revision=pod.meta.revision)` raises Conflict if the pod has changed since that revision. "
        "`await self.touch(client, pod, text)` writes a text into a pod; if it is another text "
        "than before, that changes the revision. `self.free(pods)` has the nodes without a pod. "
        "Between two looks sleep a second, not more."
    ),
    imports="""\
from scenarios.levels.past_holder import Holder
from testbed import ApiError, Client
from testbed.objects import Pod
""",
    guess=GuessFirst(
        question=(
            "alpha reads that it holds the lease, and is then away for 45 seconds. beta has taken "
            "the lease after 15. Now alpha goes on, and sends its bind. What happens?"
        ),
        choices=(
            "the API server refuses it, since alpha is no longer the holder",
            "the API server refuses it, since it comes too late",
            "it lands: the API server does not look at the lease",
            "alpha notices, and does not send it",
        ),
        answer=3,
        why=(
            "A lease is an object like any other. A bind does not name it, and the API server "
            "does not compare the two. alpha goes on where it was, and looks at nothing again."
        ),
    ),
    hints=(
        "To read the lease once more makes the gap smaller, never none: the bind may be on its way "
        "when the lease is taken. What can still refuse it when it lands?",
        "A bind that names the revision of its pod is refused if the pod has changed. So a new "
        "holder can put out of date whatever an older one has read.",
        "In a new term first touch each pod that waits, with the number of the term. Then list the "
        "pods again: a late bind may have landed before your touch.",
        "The order counts: list the pods, then read the term, then bind with the revision of that "
        "list. The other way round, a past holder could list after the touch.",
    ),
    words={
        "lease": "An object that says who may act, until it runs out.",
        "holder": "The replica that the lease names.",
        "replica": "One of two copies of a program, of which one works.",
        "term": "The time of one holder; each has a larger number than the one before.",
        "bind": "To write into a pod which node it is on.",
        "land": "Of a request: to take effect.",
        "node": "A machine; here it takes one pod.",
        "pod": "What is to run.",
        "revision": "The number of the last write of an object; also written rv.",
        "Conflict": "The refusal of a write to an object that has changed since it was read.",
        "touch": "To write a text into a pod, so that its revision changes.",
        "away": "Of a program: it does not move for a while, and does not notice.",
    },
    incident=RealIncident(
        said=(
            "When the scheduler of Kubernetes changed its leader, two pods that must be apart came "
            "to one node: the old leader still bound what it had decided."
        ),
        link="https://github.com/kubernetes/kubernetes/issues/65257",
    ),
    trials=(
        _trial("a replica is away for 45 s", EveryMoment(STALL)),
        _trial("a replica is cut off for 45 s", EveryMoment(CUT_OFF), urgent_ms=11_000),
        _trial("a replica crashes", EveryMoment("crash,restart=2s")),
        _trial(
            "three nodes, and alpha is away for 16 s", EveryMoment("stall:alpha,by=16s"), **THREE
        ),
        _trial(
            "each request takes half a second, and alpha is away for 18 s",
            EveryMoment("stall:alpha,by=18s"),
            request_ms=500,
        ),
        _trial("a replica is away for 15 s, in other orders", ManyOrders(20), "stall,by=15s"),
        _trial(
            "three nodes, requests that take their time, and alpha is away for 20 s",
            EveryMoment("stall:alpha,by=20s"),
            request_ms=100,
            **THREE,
        ),
        LevelTrial(
            name="other names and numbers", look=EveryMoment(STALL), is_varied=True, runs_out=True
        ),
    ),
    varied={
        "names": ("anna,bert", "north,south", "red,blue", "s1,s2"),
        "nodes": ("m1", "rack-b", "big"),
        "pods": ("x,y", "job,web", "p2,p9,p1"),
        "lease": ("crown", "my-scheduler", "seat"),
        "urgent_ms": (2_500, 4_200, 9_500),
    },
)
