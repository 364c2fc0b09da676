"""Node lifecycle: who is silent, which taints follow, how fast, and whose pods go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.node_lifecycle.rate_limited_queue import RateLimitedQueue
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction, stays_s
from actors.controllers.node_lifecycle.taints import mirrored
from actors.controllers.node_lifecycle.zones import FULL, NORMAL, PARTIAL, Pace
from actors.kubelet import Kubelet, Runtime
from actors.shared.node_lease import IMPLIED, LAPSED, NAMESPACE
from testbed import Client, World
from testbed.faults.crash import Crash
from testbed.objects import (
    Condition,
    Lease,
    LeaseSpec,
    Meta,
    Node,
    Pod,
    PodStatus,
    Taint,
    Toleration,
)
from testbed.turns.trace import Step
from tests.each_row import each_row
from tests.shared.stage import Cued, Puppet, play

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
NOW, LATER = "NoExecute", "NoSchedule"
ZONE = "topology.kubernetes.io/zone"


def node(name: str, *conditions: Condition, zone: str = "", **spec: Any) -> Node:
    """A node with these conditions."""
    labels = {ZONE: zone} if zone else {}
    made = Node.of(name, cpu_m=1000, labels=labels, **spec)
    return attrs.evolve(made, status=attrs.evolve(made.status, conditions=conditions))


def beat(status: str = "True", at_ms: int = 0) -> Condition:
    """What a kubelet posts."""
    return Condition("Ready", status, since_ms=0, heartbeat_ms=at_ms)


async def post(client: Client, name: str, status: str = "True") -> None:
    """Post the status of a node, as its kubelet does."""
    there = await client.get(Node, name, "")
    conditions = (beat(status, client.now()),)
    changed = attrs.evolve(there.status, conditions=conditions)
    await client.update(
        attrs.evolve(there, status=changed), subresource="status", whatever_it_was=True
    )


def beating(
    *names: str, until_ms: int, every_ms: int = 10_000
) -> Callable[[Client], Awaitable[None]]:
    """A kubelet for each of these nodes, which all fall silent at a time."""

    async def run(client: Client) -> None:
        while client.now() < until_ms:
            for name in names:
                await post(client, name)
            await client.sleep(every_ms)

    return run


def world_with(*objects: Any, **doing: Any) -> World:
    """A World with both controllers, these objects, and these users."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.add(*objects)
    world.start(NodeLifecycle(), TaintEviction())
    world.start(*(Puppet(name, do) for name, do in doing.items()))
    return world


def history(world: World, key: str, say: Callable[[Any], Any]) -> list[Any]:
    """What an object has said over time, each once, after the time at which it did."""
    said: list[Any] = []
    for change in world.store.log().changes:
        if change.key == key:
            now = None if change.new is None else say(change.new.value)
            if not said or said[-1] != now:
                said.append(now)
    return said


def taints(it: Any) -> list[tuple[str, str]]:
    """The taints of a node, without the common prefix of their keys."""
    return [(taint.key.rpartition("/")[2], taint.effect) for taint in it.spec.taints]


def there(world: World, key: str) -> Any:
    """An object at the end, or None."""
    entry = world.store.peek(key)
    return None if entry is None else entry.value


# -- the functions --------------------------------------------------------------------------------


@pytest.mark.spec("KUB-39", "CTL-33")
def test_taints_mirror_conditions() -> None:
    """One for each condition that keeps pods away, and one for a cordon; what others have set, and
    what is there already, stays."""
    other = Taint("mine", effect=LATER)
    pressed = [Condition(f"{kind}Pressure", "True") for kind in ("Memory", "Disk", "PID")]
    swap = mirrored(node("n", *pressed, beat("False"), unschedulable=True, taints=(other,)))
    keys = ["memory-pressure", "disk-pressure", "pid-pressure", "not-ready", "unschedulable"]
    assert [key.rpartition("/")[2] for key, _ in swap.add] == keys
    assert {effect for _, effect in swap.add} == {LATER}
    tainted = node("n", taints=(other, *swap.of((), 1999)))
    assert [taint.added_ms for taint in tainted.spec.taints] == [None] + [1000] * 5
    assert mirrored(tainted).of(tainted.spec.taints, 0) == (other,)
    assert not mirrored(node("n", beat(), Condition("MemoryPressure", "False")))


@pytest.mark.spec("CTL-33")
def test_the_state_of_a_zone_sets_its_pace() -> None:
    """Full when no node is ready; partial from 55 % unready nodes on, if they are more than two."""
    pace = Pace()

    def state(ready: int, unready: int) -> str:
        return pace.state_of([True] * ready + [False] * unready)

    assert [state(1, 0), state(9, 0), state(1, 2), state(3, 3)] == [NORMAL] * 4
    assert [state(2, 3), state(9, 11), state(1, 9)] == [PARTIAL] * 3
    assert state(10, 11) == NORMAL
    assert [state(0, 1), state(0, 9)] == [FULL] * 2
    assert [pace.in_state(NORMAL, 9), pace.in_state(FULL, 9)] == [10_000] * 2
    assert [pace.in_state(PARTIAL, 50), pace.in_state(PARTIAL, 51)] == [None, 100_000]


@pytest.mark.spec("CTL-33")
def test_a_line_lets_one_through_at_a_time() -> None:
    """The first at once; after a change of pace none that would not have come before."""
    queue = RateLimitedQueue(10_000)
    for name in ("a", "b", "c", "a"):
        queue.put(name)
    assert (queue.take(0), queue.take(0), queue.due_ms()) == ("b", None, 10_000)
    queue.set_pace(100_000, 5_000)
    assert (queue.take(10_000), queue.due_ms()) == (None, 105_000)
    queue.set_pace(None, 20_000)
    assert (queue.take(500_000), queue.due_ms()) == (None, None)
    queue.set_pace(10_000, 600_000)
    assert [queue.take(609_999), queue.take(610_000), queue.take(610_000)] == [None, "c", None]


@pytest.mark.spec("CTL-34")
def test_the_shortest_toleration_that_matches_counts() -> None:
    """Of all taints; one that nothing matches leaves no time; other effects do not matter."""
    one, two = Taint("one", effect=NOW), Taint("two", effect=NOW)

    def tolerates(key: str, seconds: int | None) -> Toleration:
        return Toleration(key, "Exists", toleration_seconds=seconds)

    assert stays_s((Taint("one", effect=LATER),), ()) is None
    assert stays_s((one,), ()) == 0
    assert stays_s((one, two), (tolerates("one", None),)) == 0
    assert stays_s((one,), (tolerates("one", None),)) is None
    assert stays_s((one,), (tolerates("one", None), tolerates("", 9), tolerates("two", 1))) == 9
    assert stays_s((one, two), (tolerates("one", 30), tolerates("two", 20))) == 20
    assert stays_s((one,), (tolerates("one", -5),)) == 0


# -- the controllers ------------------------------------------------------------------------------


@pytest.mark.spec("CTL-30", "CTL-32", "CTL-33")
def test_a_silent_node_is_unknown_and_is_emptied() -> None:
    """More than 40 s after the last heartbeat that was noticed; the first look after that is one of
    those that come every 5 s. The other node beats on, so its zone is not down."""
    short = tuple(Toleration(key, "Exists", "", NOW, 10) for key in (NOT_READY, UNREACHABLE))
    lost = Pod.of("lost", node_name="n1", grace_s=30, tolerations=short)
    lost = attrs.evolve(lost, status=PodStatus("Running", conditions=(Condition("Ready", "True"),)))
    world = world_with(
        node("n1"), node("n2"), lost,
        a=beating("n1", until_ms=15_000), b=beating("n2", until_ms=90_000),
    )  # fmt: skip
    steps = play(world).steps
    assert there(world, "nodes/n1").status.conditions[0].reason == "NodeStatusUnknown"
    assert {c.type: c.status for c in there(world, "nodes/n1").status.conditions} == dict.fromkeys(
        ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"), "Unknown"
    )
    said = [
        s
        for s in steps
        if "update/status nodes/n1" in str(s.sentence) and "life" in str(s.sentence)
    ]
    # The last heartbeat came at 10 s and was noticed at the look of 15 s.
    assert {step.now_ms for step in said} == {60_000}
    assert [("unreachable", LATER), ("unreachable", NOW)] in history(world, "nodes/n1", taints)
    pod = there(world, "pods/default/lost")
    assert pod.meta.is_terminating
    assert {c.type: c.status for c in pod.status.conditions} == {
        "Ready": "False", "DisruptionTarget": "True"
    }  # fmt: skip
    assert NOW not in str(history(world, "nodes/n2", taints))


@pytest.mark.spec("CTL-30")
def test_a_lease_is_a_heartbeat() -> None:
    """A node whose Lease is renewed is not silent, though it posts no status."""

    async def renew(client: Client) -> None:
        lease = Lease(Meta("n1", NAMESPACE), spec=LeaseSpec("n1", 40, 0, 0))
        lease = await client.create(lease)
        for _ in range(12):
            await client.sleep(10_000)
            spec = attrs.evolve(lease.spec, renewed_ms=client.now())
            lease = await client.update(attrs.evolve(lease, spec=spec))

    world = world_with(node("n1", beat()), node("n2", beat()), a=renew)
    seen: list[str] = []

    async def look(client: Client) -> None:
        await client.sleep(110_000)
        for name in ("n1", "n2"):
            seen.append((await client.get(Node, name, "")).status.conditions[0].status)

    world.start(Puppet("looker", look))
    play(world)
    assert seen == ["True", "Unknown"]


@pytest.mark.spec("CTL-30")
def test_a_lease_that_is_implied_is_a_heartbeat_without_a_write() -> None:
    """Until it lapses; then its node has the usual time. No look is planned for it until then."""

    async def lapse(client: Client) -> None:
        meta = Meta("n1", NAMESPACE, annotations={IMPLIED: "k"})
        lease = await client.create(Lease(meta, spec=LeaseSpec("n1", 40, 0, 0)))
        await client.sleep(500_000)
        spec = attrs.evolve(lease.spec, renewed_ms=client.now())
        meta = attrs.evolve(lease.meta, annotations={LAPSED: "k"})
        await client.update(attrs.evolve(lease, meta=meta, spec=spec))

    world = world_with(node("n1", beat()), a=lapse)
    steps = play(world).steps
    (wrote,) = {s.now_ms for s in steps if "update/status nodes/n1" in str(s.sentence)}
    assert wrote == 550_000
    looks = [s for s in steps if str(s.sentence).startswith("wake node-lifecycle/monitor")]
    assert len(looks) <= 6


@pytest.mark.spec("CTL-31")
def test_a_new_node_has_a_minute_to_post_its_first_status() -> None:
    """Then it is Unknown, as one that never posted. Its kubelet has renewed its Lease once, so its
    heartbeats are played; the minute counts from the look at 5 s, which found that."""
    lease = Lease(Meta("n1", NAMESPACE), spec=LeaseSpec("n1", 40, 0, 0))
    world = world_with(node("n1"), lease)
    steps = play(world).steps
    (wrote,) = {s.now_ms for s in steps if "update/status nodes/n1" in str(s.sentence)}
    assert wrote == 70_000
    assert there(world, "nodes/n1").status.conditions[0].reason == "NodeStatusNeverUpdated"


@pytest.mark.spec("CTL-31", "KUB-41")
@each_row("conditions", [(), (Condition("Ready", "True"),)])
def test_a_node_that_never_had_a_heartbeat_is_not_judged(conditions: tuple[Condition, ...]) -> None:
    """Its kubelet is at its defaults, which play none. Nothing is written of it, however long it
    is silent, and the World comes to rest."""
    world = world_with(node("n1", *conditions))
    world.serve(partial(Runtime, node="n1"))
    world.start(Kubelet("kubelet-n1", "n1"))
    world.limit(virtual_ms_max=10_000_000)
    assert play(world).verdict.is_held
    assert there(world, "nodes/n1").status.conditions == conditions
    assert history(world, "nodes/n1", taints) == [[]]


@pytest.mark.spec("CTL-31", "CTL-33")
def test_a_node_that_never_had_a_heartbeat_counts_as_well_in_its_zone() -> None:
    """Once its first minute is over: so one that says that it is not ready is emptied."""

    async def ail(client: Client) -> None:
        ready = {"type": "Ready", "status": "False"}
        await client.patch(Node.of("n1"), {"status": {"conditions": [ready]}}, subresource="status")

    world = world_with(node("n1"), node("n2"), a=ail)
    world.limit(virtual_ms_max=1_000_000)
    play(world)
    assert taints(there(world, "nodes/n1")) == [("not-ready", LATER), ("not-ready", NOW)]
    assert taints(there(world, "nodes/n2")) == []


@pytest.mark.spec("CTL-30", "KUB-41")
@each_row("restarts", [False, True])
def test_a_kubelet_that_falls_silent_is_noticed(restarts: bool) -> None:
    """It had beaten; also by a controller that has come since, and has only what is written."""
    world = world_with(node("n1"), node("n2"))
    for name in ("n1", "n2"):
        world.serve(partial(Runtime, node=name))
        world.start(Kubelet(f"kubelet-{name}", name, switches={"heartbeat": "every"}))
    world.allow(Crash("kubelet-n1"))
    world.limit(virtual_ms_max=200_000)
    faults = ["crash kubelet-n1"]
    if restarts:
        world.allow(Crash("node-lifecycle", restart_after_ms=20_000))
        faults.append("crash node-lifecycle")
    world.run(Cued(*(each for fault in faults for each in ("wake * renew*", f"fault * {fault}*"))))
    assert ("unreachable", NOW) in taints(there(world, "nodes/n1"))
    assert taints(there(world, "nodes/n2")) == []


@pytest.mark.spec("CTL-33")
def test_a_node_that_is_well_again_loses_its_taints() -> None:
    """Of both effects; and its pods, which were given time, stay."""
    stays = Pod.of(
        "stays", node_name="n1", tolerations=(Toleration(operator="Exists", toleration_seconds=60),)
    )

    async def ail(client: Client) -> None:
        await client.sleep(7000)
        await post(client, "n1", "False")
        await client.sleep(40_000)
        await post(client, "n1")

    well = beating("n2", until_ms=50_000)
    world = world_with(node("n1", beat()), node("n2", beat()), stays, a=ail, b=well)
    world.limit(until_ms=60_000)
    play(world)
    assert history(world, "nodes/n1", taints) == [
        [], [("not-ready", LATER)], [("not-ready", LATER), ("not-ready", NOW)],
        [("not-ready", NOW)], [],
    ]  # fmt: skip
    assert not there(world, "pods/default/stays").meta.is_terminating


@pytest.mark.spec("CTL-33")
def test_nodes_are_tainted_one_after_another_in_a_zone() -> None:
    """Ten seconds apart in one zone, whatever another zone does."""

    async def ail(client: Client) -> None:
        for name in ("a1", "a2", "b1"):
            await post(client, name, "False")

    names = ("a1", "a2", "a3", "b1", "b2")
    world = world_with(*(node(name, beat(), zone=name[0]) for name in names), a=ail)
    steps = play(world).steps
    swaps = [
        (step.now_ms, str(step.sentence).split("nodes/")[1].partition("#")[0])
        for step in steps
        if str(step.sentence).startswith("serve node-lifecycle/tainter patch ")
    ]
    assert swaps == [(5_100, "a1"), (5_100, "b1"), (15_100, "a2")]


@pytest.mark.spec("CTL-33")
def test_no_node_is_emptied_if_all_are_down() -> None:
    """More likely this program is cut off. The taints that it has set are taken away again; when
    one node is back, all get their time anew."""

    async def ail(client: Client) -> None:
        await post(client, "n1", "False")
        await client.sleep(20_000)
        await post(client, "n2", "False")
        await client.sleep(60_000)
        await post(client, "n2", "False")

    world = world_with(node("n1", beat()), node("n2", beat()), a=ail)
    play(world)
    both = [("not-ready", LATER), ("not-ready", NOW)]
    assert both in history(world, "nodes/n1", taints)
    assert [each for each in taints(there(world, "nodes/n1")) if each[1] == NOW] == []
    assert [each for each in taints(there(world, "nodes/n2")) if each[1] == NOW] == []


# -- taint eviction -------------------------------------------------------------------------------


def tainting(*steps: tuple[int, tuple[Taint, ...]]) -> Callable[[Client], Awaitable[None]]:
    """A user that gives n1 these taints, each after so many milliseconds."""

    async def run(client: Client) -> None:
        for wait_ms, given in steps:
            await client.sleep(wait_ms)
            it = await client.get(Node, "n1", "")
            await client.update(attrs.evolve(it, spec=attrs.evolve(it.spec, taints=given)))

    return run


def manager_with(do: Any, *pods: Pod) -> World:
    """A World with the taint manager alone, the node n1, these pods on it, and a user."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.add(node("n1"), *pods)
    world.start(TaintEviction(), Puppet("user", do))
    return world


def on_node(name: str, *tolerations: Toleration) -> Pod:
    """A pod on n1."""
    return Pod.of(name, node_name="n1", grace_s=5, tolerations=tolerations)


def deletes(steps: list[Step]) -> list[int]:
    """When it asked for a deletion."""
    asked = (s for s in steps if str(s.sentence).startswith("serve taint-eviction/deleter delete "))
    return [step.now_ms for step in asked]


BAD = Taint("bad", effect=NOW)


@pytest.mark.spec("CTL-34")
def test_a_pod_stays_as_long_as_it_tolerates_the_taint() -> None:
    """At once, for a time, or for ever; the pod is told why, and that takes its own grace."""
    exists = Toleration("bad", "Exists")
    world = manager_with(
        tainting((1000, (BAD,))), on_node("plain"), on_node("ever", exists),
        on_node("time", attrs.evolve(exists, toleration_seconds=30)),
    )  # fmt: skip
    steps = play(world).steps
    asked = {
        str(s.sentence).split("pods/default/")[1]: s.now_ms
        for s in steps
        if str(s.sentence).startswith("serve taint-eviction/deleter delete ")
    }
    assert asked == {"plain": 1000, "time": 31_000}
    reasons = history(
        world, "pods/default/time", lambda pod: [c.reason for c in pod.status.conditions]
    )
    assert reasons == [[], ["DeletionByTaintManager"]]
    assert there(world, "pods/default/ever") is not None


@pytest.mark.spec("CTL-34")
def test_a_taint_that_is_removed_in_time_deletes_nothing() -> None:
    """The timer is cancelled; one that comes back starts it anew, one more taint does not."""
    tolerates = Toleration(operator="Exists", toleration_seconds=30)
    more = Taint("worse", effect=NOW)
    world = manager_with(
        tainting((0, (BAD,)), (20_000, ()), (5_000, (BAD,)), (10_000, (BAD, more))),
        on_node("p", tolerates),
    )
    assert deletes(play(world).steps) == [55_000]


@pytest.mark.spec("CTL-34")
def test_a_pod_that_comes_to_a_tainted_node_is_judged_like_the_others() -> None:
    """Its time begins when it is noticed."""

    async def run(client: Client) -> None:
        await tainting((0, (BAD,)))(client)
        await client.sleep(5_000)
        await client.create(on_node("p", Toleration(operator="Exists", toleration_seconds=7)))

    assert deletes(play(manager_with(run)).steps) == [12_000]


@pytest.mark.spec("CTL-35")
def test_a_pod_on_an_unreachable_node_stays_terminating() -> None:
    """Nothing runs there that could end it."""
    world = manager_with(tainting((0, (BAD,))), on_node("p"))
    play(world)
    assert there(world, "pods/default/p").meta.is_terminating


@pytest.mark.spec("KUB-39")
def test_a_node_under_pressure_takes_no_new_pod() -> None:
    """For as long as its kubelet says so; a cordon is mirrored the same way."""

    async def press(client: Client) -> None:
        for status, cordoned in (("True", False), ("True", True), ("False", False)):
            it = await client.get(Node, "n1", "")
            it = attrs.evolve(it, spec=attrs.evolve(it.spec, unschedulable=cordoned))
            it = await client.update(it, whatever_it_was=True)
            pressed = (beat(), Condition("MemoryPressure", status))
            changed = attrs.evolve(it.status, conditions=pressed)
            await client.update(attrs.evolve(it, status=changed), subresource="status")
            await client.sleep(1000)

    world = world_with(node("n1", beat()), a=press)
    play(world)
    pressure, cordon = ("memory-pressure", LATER), ("unschedulable", LATER)
    said = history(world, "nodes/n1", taints)
    assert [each for each in said if len(each) != 1] == [[], [pressure, cordon], []]
    assert [pressure] in said
