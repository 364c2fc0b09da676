"""Handlers: what the informers tell reaches the cache and the queue of the right scheduler."""

from __future__ import annotations

import attrs
import pytest

from actors.scheduler import Scheduler
from actors.shared.verbs import bind
from testbed.client.client import Client
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.objects import Affinity, LabelSelector, Map, Namespace, Node, Pod, Taint
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.pod import Port, SchedulingGate
from testbed.store.store_endpoint import StoreEndpoint
from tests.shared.scheduling import (
    NAME,
    attempts,
    books,
    cluster,
    delete,
    node_of,
    pending,
    pod_of,
    records,
    there,
)
from tests.shared.stage import Puppet, play


def tried(attempts: list[str]) -> list[str]:
    """When each pod was tried, without the result."""
    return [" ".join(each.split()[:2]) for each in attempts]


@pytest.mark.spec("SCH-1", "SCH-2")
def test_each_scheduler_binds_its_own_pods_and_counts_those_of_all() -> None:
    """Alpha does not bind beta's pod, but counts it on its node."""
    world = cluster(
        there("b", 8, scheduler_name="beta"),
        pending("mine", 8), pending("small", 2), pending("theirs", scheduler_name="nobody"),
    )  # fmt: skip
    play(world)
    assert tried(attempts(world)) == ["0 mine#1", "0 small#1"]
    assert (node_of(world, "small"), node_of(world, "theirs")) == ("n1", "")


@pytest.mark.spec("SCH-1")
def test_a_scheduler_may_schedule_pods_of_another_name() -> None:
    """Two programs of one name are two Schedulers with the same `pods_of`."""
    world = cluster(pending("a", scheduler_name="default-scheduler"), pods_of="default-scheduler")
    play(world)
    assert node_of(world, "a") == "n1"


@pytest.mark.spec("SCH-3", "SCH-21", "SCH-25")
def test_a_pod_that_is_over_is_gone() -> None:
    """A pod that has succeeded makes room, though the object still exists."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.patch(Pod("a"), {"status": {"phase": "Succeeded"}}, subresource="status")

    world = cluster(there("a", 8), pending("c", 8), user=user)
    play(world)
    assert attempts(world)[1:] == ["5000 c#2 n1"]
    assert pod_of(world, "a") is not None


@pytest.mark.spec("SCH-3", "SCH-43")
def test_what_was_over_before_it_came_never_counts() -> None:
    """Its list leaves out pods that are over."""
    over = there("a", 8)
    over = attrs.evolve(over, status=attrs.evolve(over.status, phase="Failed"))
    world = cluster(over, pending("c", 8))
    play(world)
    assert node_of(world, "c") == "n1"


@pytest.mark.spec("SCH-4", "SCH-26")
def test_what_another_binds_leaves_the_queue() -> None:
    """It becomes assigned: it leaves the queue, and counts on its node."""

    async def user(client: Client) -> None:
        await client.sleep(500)
        await bind_to(client, "c", "n2")

    world = cluster(there("a", 9, node="n1"), there("b", 9, node="n2"), pending("c", 8),
                    nodes=2, user=user)  # fmt: skip
    play(world)
    assert tried(attempts(world)) == ["0 c#1"]
    known = books(world)
    assert not any(known.beliefs.queue.places.values())
    assert [info.pod.meta.name for info in known.beliefs.cache.node("n2").pods] == ["b", "c"]


async def bind_to(client: Client, name: str, node: str) -> None:
    """Bind as another program does."""
    await bind(client, Pod(name), node)


@pytest.mark.spec("SCH-4", "SCH-38", "API-56")
def test_one_that_a_list_no_longer_shows_is_gone_from_the_cache_too() -> None:
    """Its binding was never seen, so it was last known without a node. Yet it is assumed, and no
    watch will ever tell that it is gone."""

    async def user(client: Client) -> None:
        await client.sleep(100)
        await delete(client, "c", grace_s=0)
        await client.create(pending("d", 8))

    world = cluster(pending("c", 8), user=user)
    world.allow(BreakWatch("alpha"), Compact())
    play(
        world, "serve alpha/bind-c create/binding *", "fault * break_watch *pods*",
        "serve user/main create pods/*", "fault * compact *", late=("deliver alpha/watch-pods *",),
    )  # fmt: skip
    assert attempts(world)[1:] == ["800 d#1 n1"]


@pytest.mark.spec("SCH-21", "SCH-23")
def test_a_node_that_will_not_do_at_a_glance_wakes_nobody() -> None:
    """A node that is too small or has a taint moves no pod; another one moves those that it may
    suit."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.create(Node.of("small", cpu_m=100))
        tainted = Node.of("tainted", cpu_m=10_000, taints=(Taint("k", "v", "NoSchedule"),))
        await client.create(tainted)
        await client.sleep(5000)
        await client.create(Node.of("fresh", cpu_m=10_000))

    world = cluster(there("a", 8), pending("c", 8), pending("d", 8), user=user)
    play(world)
    assert tried(attempts(world)) == ["0 c#1", "0 d#1", "10000 c#2", "10000 d#2"]
    assert node_of(world, "c") == "fresh"


def with_port(pod: Pod) -> Pod:
    """The same pod, with a host port."""
    (main,) = pod.spec.containers
    return attrs.evolve(pod, spec=attrs.evolve(
        pod.spec, containers=(attrs.evolve(main, ports=(Port(80, 8080),)),)
    ))  # fmt: skip


@pytest.mark.spec("SCH-23")
def test_at_a_glance_labels_and_ports_are_seen_and_what_evicts_is_not() -> None:
    """A pod that came to the node before counts. A taint NoExecute is not looked at before the pod
    is tried."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.create(Node.of("n2", cpu_m=5000))
        await client.sleep(5000)
        evicts = (Taint("k", "v", "NoExecute"),)
        await client.create(Node.of("n3", cpu_m=50_000, taints=evicts))

    world = cluster(
        there("a", 10), with_port(there("early", node="n2")), with_port(pending("porter")),
        pending("picky", node_selector={"disk": "ssd"}), pending("plain"), pending("big", 20),
        user=user,
    )  # fmt: skip
    play(world)
    assert tried(attempts(world)) == [
        "0 big#1", "0 picky#1", "0 plain#1", "0 porter#1",
        "5000 plain#2", "10000 big#2", "10000 porter#2",
    ]  # fmt: skip
    assert node_of(world, "plain") == "n2"


@pytest.mark.spec("PRI-18", "SCH-8")
def test_how_important_a_pod_is_goes_by_its_number_alone() -> None:
    """In the queue and for victims, only the number of its priority counts, not its class."""
    named_high = pending("high", 6, priority=0, priority_class_name="p2000")
    named_low = pending("low", 6, priority=1000, priority_class_name="p0")
    world = cluster(named_high, named_low)
    play(world)
    assert tried(attempts(world)) == ["0 low#1", "0 high#1"]
    assert not pod_of(world, "low").meta.is_terminating
    runs = attrs.evolve(there("runs", 9), spec=attrs.evolve(
        there("runs", 9).spec, priority=0, priority_class_name="p2000"
    ))  # fmt: skip
    world = cluster(runs, named_low)
    play(world)
    assert pod_of(world, "runs").meta.is_terminating


@pytest.mark.spec("SCH-21")
def test_a_node_that_goes_wakes_nobody_and_one_that_grows_does() -> None:
    """Only what may make a node more schedulable moves pods."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.delete(Node("n2"), whatever_it_was=True)
        await client.sleep(5000)
        room = {"allocatable": {"cpu": "20", "pods": "110"}}
        await client.patch(Node("n1"), {"status": room}, subresource="status")

    world = cluster(there("a", 8), there("b", 8, node="n2"), pending("c", 8), nodes=2, user=user)
    play(world)
    assert tried(attempts(world)) == ["0 c#1", "10000 c#2"]
    assert node_of(world, "c") == "n1"


@pytest.mark.spec("SCH-24", "SCH-113")
def test_a_pod_that_comes_wakes_those_that_must_be_near_it() -> None:
    """By labels and namespaces; other unschedulable pods are not moved."""
    term = PodAffinityTerm(
        topology_key="host", label_selector=LabelSelector(Map(app="web")),
        namespace_selector=LabelSelector(Map(team="blue")),
    )  # fmt: skip
    near = Affinity(pod_affinity=PodAffinity(required=(term,)))
    node = Node.of("n1", cpu_m=10_000, labels={"host": "n1"})

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.create(Pod.of("blue/other", cpu_m=100, scheduler_name="x", node_name="n1"))
        await client.sleep(5000)
        web = Pod.of("blue/web", cpu_m=100, scheduler_name="x", node_name="n1",
                     labels={"app": "web"})  # fmt: skip
        await client.create(web)

    blue = Namespace("blue").with_meta(labels={"team": "blue"})
    world = cluster(blue, pending("near", affinity=near), pending("big", 20), nodes=0, user=user)
    world.add(node)
    play(world)
    assert tried(attempts(world)) == ["0 big#1", "0 near#1", "10000 near#2"]
    assert node_of(world, "near") == "n1"


@pytest.mark.spec("SCH-26")
def test_what_has_changed_of_a_waiting_pod_may_let_it_fit() -> None:
    """A change of its labels moves it; a change of its status does not."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.patch(Pod("c"), {"status": {"message": "?"}}, subresource="status")
        await client.sleep(5000)
        await client.patch(Pod("c"), {"metadata": {"labels": {"app": "web"}}})

    world = cluster(there("a", 8), pending("c", 8), user=user)
    play(world)
    assert tried(attempts(world)) == ["0 c#1", "10000 c#2"]


@pytest.mark.spec("SCH-14")
def test_a_pod_with_gates_waits_until_they_are_gone() -> None:
    """It is not tried at all, and does not keep a World from coming to rest."""

    async def user(client: Client) -> None:
        await client.sleep(7000)
        await client.patch(Pod("c"), {"spec": {"schedulingGates": None}})

    gated = pending("c", scheduling_gates=(SchedulingGate("wait"),))
    world = cluster(gated, user=user)
    play(world)
    assert attempts(world) == ["7000 c#1 n1"]


@pytest.mark.spec("SCH-43")
def test_no_pod_is_tried_before_all_informers_have_listed() -> None:
    """However late nodes and pods are listed."""
    world = cluster(pending("c"))
    play(world, late=("* alpha/cache-nodes*", "* alpha/cache-poddisruptionbudgets*"))
    assert attempts(world) == ["0 c#1 n1"]


@pytest.mark.spec("SCH-37")
def test_a_pod_told_of_on_two_nodes_ends_that_life() -> None:
    """A cache that contradicts itself is no longer trusted. No API server causes that."""

    async def user(client: Client) -> None:
        pod = await client.get(Pod, "a")
        await client.update(attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="n2")))

    world = cluster(there("a"), nodes=2)
    world.serve(StoreEndpoint)
    world.start(Puppet("user", user), at="store")
    played = play(world, is_held=False)
    assert "CacheCorrupted: pods/default/a is known on n1" in str(played.verdict)


def test_two_schedulers_of_one_world_have_their_own_books() -> None:
    """What an Invariant finds under one scheduler's name is not the other's."""
    world = cluster(pending("a"), pending("b", scheduler_name="beta"))
    world.start(Scheduler("beta"))
    play(world)
    assert books(world).pods_of == NAME
    life = world.table.roles["beta"].life
    assert life is not None
    assert life.shown["cycle"].decision.pod.meta.name == "b"
    assert len(records(world, "assumed")) == 2
