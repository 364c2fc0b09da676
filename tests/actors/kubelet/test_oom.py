"""The OOM killer of a node: whom it kills, when, and what the kubelet makes of it (KUB-40)."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pytest

from actors.kubelet import EvictionSettings, Runtime, Threshold, Workload
from actors.kubelet.oom import NodeMemory, Process, killed, oom_score_adj
from testbed.choosers.struck import Struck
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.objects import Event, Map, Node, Pod, Quantity
from testbed.objects.pod import Resources
from testbed.objects.quantity import amounts
from testbed.store.store import Store
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import (
    KUBELET,
    ask,
    at,
    bound,
    calm,
    node_world,
    pod_of,
    runtime,
    story,
)
from tests.shared.strike import at_every_turn

pytestmark = pytest.mark.spec("KUB-40")
SCORE = {"oom_model": "score"}
GB = 10**9


def using(
    name: str, memory: str, asks: int | None = None, limit: int | None = None, **spec: Any
) -> Pod:
    """A pod on the node that requests so much memory, and uses it as told."""
    pod = bound(name, None, memory=asks, **spec).with_meta(
        annotations=Map({"usage.testbed/memory": memory})
    )
    return pod if limit is None else limited(pod, {"memory": limit})


def limited(pod: Pod, limits: dict[str, Quantity | str | int]) -> Pod:
    """The pod with these limits of its container."""
    (main,) = pod.spec.containers
    resources = Resources(main.resources.requests, amounts({k: str(v) for k, v in limits.items()}))
    main = attrs.evolve(main, resources=resources)
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=(main,)))


def guaranteed(pod: Pod) -> Pod:
    """The pod with limits that are its requests, of cpu too."""
    (main,) = pod.spec.containers
    both = amounts({**main.resources.requests, "cpu": "1m"})
    main = attrs.evolve(main, resources=Resources(both, both))
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=(main,)))


def full(*pods: Pod, **settings: Any) -> World:
    """A World of one node with 1000 bytes of memory, whose kernel kills when they are all used."""
    return node_world(*pods, switches=SCORE, **settings)


def kills(world: World) -> list[str]:
    """Which pods the kernel has killed, and when."""
    found = runtime(world).ooms(world.evidence.now_ms).kills
    return [f"{kill.at_ms} {kill.pod.meta.name}" for kill in found]


def container_of(world: World, name: str) -> Any:
    """The status of the one container of a pod."""
    (status,) = pod_of(world, name).status.container_statuses
    return status


def events(world: World, reason: str) -> list[Event]:
    """The Events with that reason."""
    found: list[Any] = [entry.value for entry in world.store.snapshot("events/")]
    return [event for event in found if event.reason == reason]


# -- whom it kills --------------------------------------------------------------------------------


@each_row(("pod", "adj"), [
    (Pod.of("best-effort"), 1000),
    (Pod.of("cpu-alone", cpu_m=5), 999),
    (Pod.of("a-tenth", memory=GB // 10), 900),
    (Pod.of("rounded", memory=GB // 2 - 1), 501),
    (Pod.of("all-of-it", memory=GB), 3),
    (Pod.of("more-than-it", memory=2 * GB), 3),
    (guaranteed(Pod.of("guaranteed", memory=GB // 10)), -997),
    (Pod.of("critical", priority=2_000_000_000, priority_class_name="system-cluster-critical"),
     1000),
    (Pod.of("of-the-node", priority=2_000_001_000, priority_class_name="system-node-critical"),
     -997),
    (Pod.of("by-name-alone", priority_class_name="system-node-critical"), 1000),
])  # fmt: skip
def test_the_adjustment_of_a_pod_is_that_of_1_26(pod: Pod, adj: int) -> None:
    """By its class of service; a burstable pod by the part of the node that it requests."""
    assert oom_score_adj(pod, GB) == adj


def chosen(*processes: tuple[Pod, int], system: int = 0) -> list[str]:
    """What the kernel of a node with 1000 bytes kills, in order."""
    found = killed([Process(*each) for each in processes], NodeMemory(1000, system), 5)
    return [kill.pod.meta.name for kill in found]


def test_a_pod_that_passes_its_own_limit_is_killed_first() -> None:
    """Whatever else there is; it may be enough. The limits of its containers count together, and
    only if each has one."""
    pod = limited(Pod.of("z", memory=100), {"memory": 200})
    assert chosen((pod, 200)) == []
    assert chosen((pod, 201)) == ["z"]
    assert chosen((Pod.of("a"), 700), (pod, 400)) == ["z"]
    (main,) = pod.spec.containers
    two, half = (main, main), (main, attrs.evolve(main, resources=Resources()))
    with_two = attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=two))
    with_half = attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=half))
    with_none = attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=()))
    assert [chosen((each, 400)) for each in (with_two, with_half)] == [[], []]
    assert [chosen((each, 401)) for each in (with_two, with_half)] == [["z"], []]
    assert chosen((with_none, 401)) == []


def test_a_kill_says_why_it_was_that_pod() -> None:
    """By its score, of which parts, and who was next; or by its own limit."""
    over = limited(Pod.of("over", memory=100), {"memory": 200})
    pods = [(Pod.of("asks", memory=400), 500), (Pod.of("best"), 300), (over, 201)]
    found = killed([Process(*each) for each in pods], NodeMemory(1000, 600), 5)
    assert [kill.why for kill in found] == [
        "it would use 201, more than its own limit",
        "its score was 1300 (usage 300, oom_score_adj 1000), and next was pods/default/asks with "
        "1100",
        "its score was 1100 (usage 500, oom_score_adj 600)",
    ]


# -- when it kills --------------------------------------------------------------------------------


@pytest.fixture
def kernel() -> Runtime:
    """The runtime of a node with 1000 bytes, whose kernel kills."""
    found = Runtime(Store(), "n1")
    ask(found, "limit", body=NodeMemory(1000), now_ms=0)
    return found


def start(kernel: Runtime, name: str, memory: str, now_ms: int = 0) -> Pod:
    """Start a pod with that usage."""
    pod = using(name, memory).with_meta(uid=name)
    ask(kernel, "start", name, pod, now_ms=now_ms)
    return pod


def test_what_frees_memory_in_time_spares_a_pod(kernel: Runtime) -> None:
    """What was killed stays dead, though."""
    start(kernel, "a", "0s=100 5s=700")
    start(kernel, "b", "400")
    ask(kernel, "kill", "b", now_ms=4999)
    assert kernel.ooms(4999).next_in_ms is None
    start(kernel, "c", "400", now_ms=6000)
    ask(kernel, "kill", "c", now_ms=6000)
    assert [kill.pod.meta.name for kill in kernel.ooms(9000).kills] == ["a"]
    assert not ask(kernel, "status", "a", now_ms=6000).is_running


def test_a_usage_that_is_still_to_be_drawn_kills_nothing(kernel: Runtime) -> None:
    """The first one would; the kernel acts by the one that is drawn."""
    pod = start(kernel, "a", "100")
    again = pod.with_meta(annotations=Map({"usage.testbed/memory": "1200 | 300 | 1300"}))
    ask(kernel, "annotate", "a", again, now_ms=1000)
    ask(kernel, "draw", "a", Map(memory="300"), now_ms=1000)
    assert ask(kernel, "status", "a", now_ms=1000).is_running
    ask(kernel, "annotate", "a", again, now_ms=2000)
    ask(kernel, "draw", "a", Map(memory="1300"), now_ms=2000)
    assert not ask(kernel, "status", "a", now_ms=2000).is_running


# -- what becomes of it ---------------------------------------------------------------------------


def crowd() -> World:
    """Four pods of three classes. The guaranteed one grows, and it does so at others' cost."""
    never: dict[str, Any] = {"restart_policy": "Never"}
    return full(
        using("best", "80", **never),
        using("over", "150", 100, **never),
        using("under", "0s=390 3s=540", 400, **never),
        guaranteed(using("sure", "0s=300 1s=381 2s=461", 490, **never)),
    )


@pytest.mark.spec("KUB-17", "KUB-23")
@each_row("policy", ["Always", "OnFailure"])
def test_what_was_killed_is_started_again_with_back_off(policy: str) -> None:
    """At once, then after 10 s; its usage begins anew each time. When the other pod has ended there
    is room for it."""
    other = Workload(runs_ms=15_000).given_to(using("b", "600", 100, restart_policy="Never"))
    world = full(using("a", "0s=100 2s=500", restart_policy=policy), other)
    calm(world)
    assert kills(world) == ["2000 a", "4000 a"]
    states = []
    for change in world.store.log("pods").after(0):
        pod: Any = change.after
        if pod.meta.name == "a" and pod.status.container_statuses:
            states.append(pod.status.container_statuses[0].state)
    assert [
        state.waiting.reason if state.waiting else state.terminated.reason
        for state in states
        if not state.running
    ] == ["OOMKilled", "CrashLoopBackOff"]
    status = container_of(world, "a")
    assert (status.restart_count, status.state.running.started_ms) == (2, 14_000)
    ended = status.last_state.terminated
    assert (ended.reason, ended.exit_code, ended.finished_ms) == ("OOMKilled", 137, 4000)
    assert pod_of(world, "a").status.phase == "Running"


async def annotate(client: Client, memory: str) -> None:
    """Have a pod use so much from now on."""
    pod = await client.get(Pod, "a", "default")
    await client.update(pod.with_meta(annotations=Map({"usage.testbed/memory": memory})))


@pytest.mark.spec("KUB-23")
def test_a_new_annotation_may_cost_the_pod_its_life() -> None:
    """At once, and each time that it is started again."""

    user = at((3000, partial(annotate, memory="1200")), (7000, partial(annotate, memory="10")))
    world = full(using("a", "100"), user=user)
    calm(world)
    assert kills(world) == ["3000 a", "3000 a"]
    assert container_of(world, "a").state.running.started_ms == 13_000


@pytest.mark.spec("KUB-23")
def test_a_new_annotation_may_cost_another_pod_its_life() -> None:
    """It had expected nothing, and says at once that it has ended."""
    user = at((3000, partial(annotate, memory="800")))
    world = full(using("a", "100", 700), using("b", "300", restart_policy="Never"), user=user)
    calm(world)
    assert kills(world) == ["3000 b"]
    assert story(world, "b")[-1] == "3000 Failed"


def test_the_node_says_that_its_system_ran_out_of_memory() -> None:
    """In an Event, as a series. A pod that passes its own limit is none of the system's."""
    world = crowd()
    calm(world)
    (event,) = events(world, "SystemOOM")
    assert (event.involved.kind, event.involved.name, event.type) == ("Node", "n1", "Warning")
    assert event.message == "System OOM encountered, victim process: best"
    assert event.series is not None
    alone = full(using("a", "0s=100 5s=300", 100, 200, restart_policy="Never"))
    calm(alone)
    assert kills(alone) == ["5000 a"]
    assert container_of(alone, "a").state.terminated.reason == "OOMKilled"
    assert events(alone, "SystemOOM") == []


@pytest.mark.spec("KUB-29", "KUB-38")
@each_row(("switches", "kills_it", "evicts"), [
    (SCORE, ["12000 a"], False), ({}, [], True),
])  # fmt: skip
def test_it_is_no_eviction(switches: dict[str, str], kills_it: list[str], evicts: bool) -> None:
    """The kernel acts before the next look of the kubelet, which then finds enough: no pod is
    evicted and the node has no pressure. Without a kernel that kills it has."""
    settings = EvictionSettings((Threshold.of("memory.available", "50"),))
    work = Workload(torn_down_after_ms=9000)
    a = work.given_to(using("a", "0s=100 12s=700", restart_policy="Never"))
    pods = (a, using("b", "400", 400))
    world = node_world(*pods, switches=switches, eviction=settings)
    calm(world)
    assert kills(world) == kills_it
    reasons = {pod_of(world, name).status.reason for name in "ab"}
    assert reasons == ({"Evicted", ""} if evicts else {""})
    pressures = [
        each.is_true
        for change in world.store.log("nodes").after(0)
        if change.new is not None and isinstance(change.new.value, Node)
        for each in change.new.value.status.conditions
        if each.type == "MemoryPressure"
    ]
    assert any(pressures) == evicts


# -- the kernel is the node's ---------------------------------------------------------------------


@pytest.mark.spec("KUB-43")
def test_a_crash_at_any_turn_changes_nothing_in_the_end() -> None:
    """A kubelet that is back at once finds the same pods killed, at the same instants."""

    def ends(world: World) -> list[Any]:
        names = ("best", "over", "under", "sure")
        return [*kills(world), *(pod_of(world, name).status.phase for name in names)]

    quiet = crowd()
    calm(quiet)

    def play(chooser: Struck) -> None:
        world = crowd()
        world.allow(Crash(KUBELET, restart_after_ms=0))
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        assert ends(world) == ends(quiet), chooser.turn

    assert sum(c.has_struck for c in at_every_turn(f"crash {KUBELET}", play, stride=2)) > 20
