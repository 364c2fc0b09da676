"""The ReplicaSet controller: as many pods as are wanted, once each, and the right ones deleted."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.frame.expectations import EXPIRY_MS
from actors.controllers.frame.ranking import DELETION_COST, cost_of, to_delete
from actors.controllers.replicaset import ReplicaSetController
from testbed.choosers.bounded import Bounded
from testbed.client.client import Client
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.objects import (
    Condition,
    ContainerStatus,
    LabelSelector,
    Map,
    Meta,
    Owner,
    Pod,
    PodStatus,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    ResourceQuota,
)
from testbed.objects.condition import find
from testbed.objects.quota import QuotaSpec, QuotaStatus
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import delete
from tests.shared.stage import Doing, Puppet, play

LABELS = Map(app="web")
SOON_MS = 100


def web(replicas: int | None = 2, name: str = "web", **spec: Any) -> ReplicaSet:
    """A ReplicaSet of that many pods."""
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100).spec)
    return ReplicaSet(
        Meta(name), spec=ReplicaSetSpec(replicas, 0, LabelSelector(LABELS), template, **spec)
    )


def controlled_by(world: World, user: Doing, *things: Any, **switches: str) -> None:
    """Put the controller and a user into a World."""
    world.serve(ApiServer)
    world.add(*things)
    world.start(Puppet("user", user))
    world.start(ReplicaSetController("rs", switches={"events": "off", **switches}))


def controlled(user: Doing, *things: Any, **switches: str) -> World:
    """A World with the controller and a user."""
    world = World("controlled")
    controlled_by(world, user, *things, **switches)
    return world


def pods_of(world: World) -> list[Pod]:
    """All pods there are."""
    found: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    return found


async def pods(client: Client) -> list[Pod]:
    """All pods there are, a little later."""
    await client.sleep(SOON_MS)
    return list((await client.list(Pod)).items)


async def report(client: Client, pod: Pod, phase: str, *, ready: bool | None = None) -> None:
    """Let the pod stand like that."""
    status: dict[str, Any] = {"phase": phase}
    if ready is not None:
        status["conditions"] = [{"type": "Ready", "status": str(ready)}]
    await client.patch(pod, {"status": status}, subresource="status")


def run(user: Doing, *things: Any) -> World:
    """Play that calmly."""
    world = controlled(user, *things)
    play(world)
    return world


@pytest.mark.spec("CTL-3", "CTL-6", "CTL-7")
def test_pods_of_the_template_are_created_and_owned() -> None:
    """With its labels, names that the server generates, and a controllerRef."""

    async def user(client: Client) -> None:
        await client.create(web(3))

    world = run(user)
    found = pods_of(world)
    owner: Any = world.store.peek("replicasets/default/web")
    assert len(found) == 3
    for pod in found:
        assert pod.meta.name.startswith("web-")
        assert pod.meta.labels == LABELS
        ref = Owner("apps/v1", "ReplicaSet", "web", owner.value.meta.uid, True, True)
        assert pod.meta.owners == (ref,)


@pytest.mark.spec("CTL-3")
def test_a_terminating_pod_is_replaced_before_it_is_gone() -> None:
    """The kubelet is still ending it."""

    async def user(client: Client) -> None:
        await client.create(web())
        first, *_ = await pods(client)
        await client.patch(first, {"metadata": {"finalizers": ["x"]}})
        await delete(client, first.meta.name)

    found = pods_of(run(user))
    assert sorted(pod.meta.is_terminating for pod in found) == [False, False, True]


# -- slow start ------------------------------------------------------------------------------------


@pytest.mark.spec("CTL-4")
def test_a_batch_that_fails_leaves_the_others_to_a_later_sync() -> None:
    """A quota of two: of the batches of 1, 2 and 4 the second fails in part, and the third is not
    tried. The condition says why, and goes once the quota allows more."""
    said: list[ReplicaSetStatus] = []

    async def user(client: Client) -> None:
        await client.create(web(7))
        await client.sleep(1)
        said.append((await client.get(ReplicaSet, "web")).status)
        hard = {"hard": {"pods": "9"}}
        await client.patch(ResourceQuota("q"), {"spec": hard})
        await client.patch(ResourceQuota("q"), {"status": hard}, subresource="status")
        await client.sleep(SOON_MS)
        said.append((await client.get(ReplicaSet, "web")).status)

    hard = Map(pods=2)
    quota = ResourceQuota("q", spec=QuotaSpec(hard), status=QuotaStatus(hard, Map(pods=0)))
    world = controlled(user, quota)
    played = play(world)
    failure = find(said[0].conditions, "ReplicaFailure")
    assert failure is not None
    assert failure.reason == "FailedCreate"
    status = played.every("serve rs/main update/status *")[0].number
    creates = played.every("answer rs/main create *")
    assert len([step for step in creates if step.number < status]) == 3
    assert said[1].conditions == ()
    assert said[1].replicas == len(pods_of(world)) == 7


@pytest.mark.spec("CTL-1", "CTL-4")
def test_what_cannot_be_created_is_tried_less_and_less_often() -> None:
    """The text of each refusal is another one. It is written once: else each write would wake the
    controller at once."""

    async def user(client: Client) -> None:
        await client.create(attrs.evolve(web(2), spec=ReplicaSetSpec(2)))

    world = controlled(user)
    world.limit(until_ms=2000)
    assert len(play(world).every("answer rs/main create *")) == 9


# -- which are deleted -----------------------------------------------------------------------------

NOW_MS = 10_000_000


def pod(name: str, node: str = "n1", phase: str = "Running", **given: Any) -> Pod:
    """A pod that stands like that."""
    ready, restarts = given.get("ready"), given.get("restarts", 0)
    conditions = () if ready is None else (Condition("Ready", "True", since_ms=ready),)
    cost = {DELETION_COST: given["cost"]} if "cost" in given else {}
    meta = Meta(name, uid=name, created_ms=given.get("made", 0), annotations=Map(cost))
    statuses = (ContainerStatus("main", restart_count=restarts),)
    return Pod(
        meta, spec=attrs.evolve(Pod.of("", cpu_m=1).spec, node_name=node),
        status=PodStatus(phase, conditions=conditions, container_statuses=statuses),
    )  # fmt: skip


RANKED = [
    (pod("a", node=""), pod("b", phase="Pending")),
    (pod("a", phase="Pending"), pod("b", phase="Unknown")),
    (pod("a", phase="Unknown"), pod("b")),
    (pod("a"), pod("b", ready=NOW_MS)),
    (pod("a", ready=1, cost="-1"), pod("b", ready=NOW_MS)),
    (pod("a", ready=1), pod("b", ready=NOW_MS, cost="1")),
    (pod("a", ready=1, node="n2"), pod("b", ready=9)),
    (pod("a", ready=NOW_MS - 1000), pod("b", ready=NOW_MS - 5000, restarts=9)),
    (pod("a", ready=5, restarts=2), pod("b", ready=5, restarts=1, made=NOW_MS)),
    (pod("a", made=NOW_MS - 1000), pod("b", made=NOW_MS - 5000)),
    (pod("a", made=NOW_MS - 5000), pod("b", made=NOW_MS - 5500)),
]
"""Each time the first is deleted before the second, and all that stands later does not matter."""


@pytest.mark.spec("CTL-5")
@each_row("pair", RANKED)
def test_the_least_important_is_deleted_first(pair: tuple[Pod, Pod]) -> None:
    """Whatever their order. On n2 there is a related pod beside, which is active."""
    related = [pod("c", node="n2"), pod("d", node="n1", phase="Failed")]
    for pods in (list(pair), list(reversed(pair))):
        assert to_delete(pods, [*pods, *related], 1, NOW_MS) == [pair[0]]


def test_a_bad_deletion_cost_is_none() -> None:
    """Leading zeros and plus signs among them, as in Kubernetes."""
    texts = ("7", "-7", "007", "+7", "x", "2147483648", "")
    assert [cost_of(pod("a", cost=text)) for text in texts] == [7, -7, 0, 0, 0, 0, 0]


# -- counts ----------------------------------------------------------------------------------------


def test_the_status_counts_what_it_has() -> None:
    """Ready at once, available after `minReadySeconds`; for the generation of the spec."""
    seen: list[Any] = []

    async def user(client: Client) -> None:
        item = web(2)
        await client.create(attrs.evolve(item, spec=attrs.evolve(item.spec, min_ready_s=5)))
        first, second = await pods(client)
        await report(client, first, "Running", ready=True)
        await report(client, second, "Running", ready=False)
        await client.patch(second, {"metadata": {"labels": {"app": "other"}}})
        for wait_ms in (SOON_MS, 6000):
            await client.sleep(wait_ms)
            status = (await client.get(ReplicaSet, "web")).status
            seen.append(attrs.astuple(status)[:4])
        assert status.observed_generation == 1

    run(user)
    assert seen == [(2, 1, 1, 0), (2, 1, 1, 1)]


# -- races -----------------------------------------------------------------------------------------

LATE_PODS = ("deliver rs/watch-pods *",)


@pytest.mark.spec("CTL-2")
@each_row(("expectations", "created"), [("on", 2), ("off", 6)])
def test_what_it_has_created_and_not_heard_of_is_not_created_again(
    expectations: str, created: int
) -> None:
    """It hears of its own write of the status before it hears of its pods, and syncs. Without
    expectations it creates the pods again; in the end those that are too many are deleted."""

    async def user(client: Client) -> None:
        await client.create(web(2))

    world = controlled(user, expectations=expectations)
    played = play(world, late=LATE_PODS)
    assert len(played.every("answer rs/main create *")) == created
    assert len(pods_of(world)) == 2


@pytest.mark.spec("CTL-2")
def test_pods_that_a_list_has_skipped_are_waited_for_no_longer_than_five_minutes() -> None:
    """They are deleted before the Cache lists again, so it never hears of them."""

    async def user(client: Client) -> None:
        await client.create(web(2))
        for pod in await pods(client):
            await delete(client, pod.meta.name)

    world = controlled(user)
    world.allow(Compact(), BreakWatch("rs"))
    cues = ("answer rs/main create pods*#2", "fault * break*", "fault * compact*")
    played = play(world, *cues, late=LATE_PODS)
    assert len(pods_of(world)) == 2
    assert played.verdict.virtual_ms >= EXPIRY_MS


@pytest.mark.spec("CTL-2")
def test_after_a_crash_it_goes_by_a_new_list() -> None:
    """At whatever turn it crashes: it comes to two pods."""

    async def user(client: Client) -> None:
        await client.create(web(2))

    def build(world: World) -> None:
        controlled_by(world, user)
        world.allow(Crash("rs", restart_after_ms=100))

    def look(world: World) -> bool:
        assert len(pods_of(world)) == 2
        return True

    crashes = Bounded(deviations_max=1)
    assert play_runs(of(build, "crashes"), crashes, look, runs_max=200, driver="direct") > 50
