"""The disruption controller: what a budget counts, what it allows, and what it forgets in time."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.disruption.counting import OwnerScale, Uncountable, counted
from actors.controllers.invariants.budget_statuses import BudgetStatusesAreRight
from actors.shared.verbs import evict
from testbed import Calm, Client, World
from testbed.errors import TooManyRequests
from testbed.objects import (
    Condition,
    Deployment,
    DeploymentSpec,
    LabelSelector,
    Map,
    Meta,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    ReplicaSet,
    ReplicaSetSpec,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, play

APP = Map(app="a")
READY = Condition("Ready", "True")


def budget(**spec: Any) -> PodDisruptionBudget:
    """A budget of the pods of `app=a`."""
    given = PodDisruptionBudgetSpec(selector=LabelSelector(APP), **spec)
    return PodDisruptionBudget("b", spec=given)


def serving(name: str, *conditions: Condition, owner: Owner | None = None) -> Pod:
    """A pod of that application that runs, and is ready unless conditions say otherwise."""
    pod = Pod.of(name, cpu_m=100, node_name="n1").with_meta(
        labels=APP, owners=(owner,) if owner else ()
    )
    return attrs.evolve(pod, status=PodStatus("Running", conditions=conditions or (READY,)))


def of(name: str) -> Owner:
    """The owner of that name, with its name for a uid."""
    return Owner("apps/v1", "ReplicaSet", name, name, True)


def scales(**replicas: int) -> Any:
    """The scales of these owners, by name."""

    def find(owner: Owner, _: str) -> OwnerScale | None:
        return OwnerScale(owner.uid, replicas[owner.name]) if owner.name in replicas else None

    return find


def found(it: PodDisruptionBudget, pods: list[Pod], now_ms: int = 0, **replicas: int) -> Any:
    """What is counted of a budget: expected, desired, healthy and allowed pods."""
    it = attrs.evolve(it, meta=attrs.evolve(it.meta, generation=1))
    said = counted(it, pods, scales(**replicas), now_ms)
    if isinstance(said, Uncountable):
        return said
    status = said.status
    return (
        status.expected_pods, status.desired_healthy, status.current_healthy,
        status.disruptions_allowed,
    )  # fmt: skip


# -- the function ---------------------------------------------------------------------------------


@pytest.mark.spec("CTL-21", "CTL-23")
def test_how_many_must_be_healthy_follows_from_the_bound() -> None:
    """A least number counts the pods that are there; all else goes by the scale of their owners."""
    pods = [serving(f"p{n}", owner=of("x")) for n in range(3)]
    assert found(budget(min_available=2), pods) == (3, 2, 3, 1)
    assert found(budget(min_available="50%"), pods, x=5) == (5, 3, 3, 0)
    assert found(budget(max_unavailable=1), pods, x=3) == (3, 2, 3, 1)
    assert found(budget(max_unavailable="50%"), pods, x=3) == (3, 1, 3, 2)
    assert found(budget(max_unavailable=9), pods, x=3) == (3, 0, 3, 3)


@pytest.mark.spec("CTL-21")
def test_each_owner_is_counted_once() -> None:
    """The scales of all owners are added; pods without an owner add nothing."""
    pods = [serving("p1", owner=of("x")), serving("p2", owner=of("x")), serving("p3"),
            serving("p4", owner=of("y"))]  # fmt: skip
    assert found(budget(max_unavailable=1), pods, x=2, y=3) == (5, 4, 4, 0)


@pytest.mark.spec("CTL-23")
def test_a_budget_without_pods_allows_nothing() -> None:
    """So that it is safe when its first pods come."""
    assert found(budget(min_available=0), []) == (0, 0, 0, 0)
    assert found(budget(max_unavailable=1), []) == (0, 0, 0, 0)
    assert found(budget(max_unavailable=1), [serving("p")]) == (0, 0, 1, 0)


@pytest.mark.spec("CTL-23")
def test_an_unknown_owner_makes_a_budget_uncountable() -> None:
    """It is not taken for an owner that wants no pods."""
    said = found(budget(max_unavailable=1), [serving("p", owner=of("x"))])
    assert said == Uncountable('found no controllers for pod "p"')
    assert isinstance(found(budget(max_unavailable="few"), [serving("p")]), Uncountable)


@pytest.mark.spec("CTL-22")
def test_only_a_ready_pod_that_stays_is_healthy() -> None:
    """Not one that is not ready, is terminating, or whose eviction was granted just now."""
    going = serving("going").with_meta(deleted_ms=5)
    pods = [serving("p"), serving("sick", Condition("Ready", "False")), going, serving("granted")]
    status = PodDisruptionBudgetStatus(disrupted_pods=Map(granted=0))
    it = attrs.evolve(budget(min_available=1), status=status)
    assert found(it, pods, now_ms=119_999) == (4, 1, 1, 0)
    assert found(it, pods, now_ms=120_000) == (4, 1, 2, 1)


# -- the controller -------------------------------------------------------------------------------


def world_with(do: Doing, *objects: Any, **settings: Any) -> World:
    """A World with the controller, these objects and a user, where the status must be right in the
    end."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.add(*objects)
    world.start(DisruptionController(**settings), Puppet("user", do))
    world.claim(BudgetStatusesAreRight())
    return world


def status_in(world: World) -> PodDisruptionBudgetStatus:
    """The status of the budget at the end."""
    entry: Any = world.store.peek("poddisruptionbudgets/default/b")
    status: PodDisruptionBudgetStatus = entry.value.status
    return status


async def nothing(client: Client) -> None:
    """Do nothing."""


@pytest.mark.spec("CTL-20", "CTL-21", "CTL-22", "CTL-23", "INV-32")
def test_a_budget_is_counted_when_its_pods_come_and_go() -> None:
    """Each time anew, and the evictions that it then allows are granted."""
    told: list[int] = []

    async def run(client: Client) -> None:
        async def note() -> None:
            await client.sleep(1000)
            told.append((await client.get(PodDisruptionBudget, "b")).status.disruptions_allowed)

        await note()
        await evict(client, serving("p1"))
        await note()
        with pytest.raises(TooManyRequests):
            await evict(client, serving("p2"))
        await client.delete(serving("p1"), whatever_it_was=True, options=Map(grace_s=0))
        await client.create(serving("p4"))
        tree = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        await client.patch(Pod(Meta("p4")), tree, how="strategic", subresource="status")
        await note()

    pods = [serving(f"p{n}") for n in (1, 2, 3)]
    world = world_with(run, budget(min_available=2), *pods)
    assert play(world).verdict.is_held
    assert told == [1, 0, 1]
    assert status_in(world).observed_generation == 1


@pytest.mark.spec("CTL-21")
def test_shares_go_by_the_scale_of_the_owner() -> None:
    """Of a ReplicaSet of four with three pods, three must be healthy at 75 %."""

    async def run(client: Client) -> None:
        owner = await client.create(ReplicaSet("x", spec=ReplicaSetSpec(replicas=4)))
        reference = Owner("apps/v1", "ReplicaSet", "x", owner.meta.uid, True)
        for name in ("p1", "p2", "p3"):
            await client.create(serving(name, owner=reference))

    world = world_with(run, budget(min_available="75%"))
    assert play(world).verdict.is_held
    assert (status_in(world).expected_pods, status_in(world).desired_healthy) == (4, 3)


@pytest.mark.spec("CTL-21")
def test_a_replica_set_of_a_deployment_has_the_scale_of_the_deployment() -> None:
    """So a rollout, which has two of them, does not count twice."""

    async def run(client: Client) -> None:
        above = await client.create(Deployment("d", spec=DeploymentSpec(replicas=3)))
        for number, name in enumerate(("old", "new"), 1):
            mine = ReplicaSet(name, spec=ReplicaSetSpec(replicas=number)).with_meta(
                owners=(Owner("apps/v1", "Deployment", "d", above.meta.uid, True),)
            )
            made = await client.create(mine)
            reference = Owner("apps/v1", "ReplicaSet", name, made.meta.uid, True)
            await client.create(serving(f"of-{name}", owner=reference))

    world = world_with(run, budget(max_unavailable=1))
    assert play(world).verdict.is_held
    assert (status_in(world).expected_pods, status_in(world).desired_healthy) == (3, 2)


@pytest.mark.spec("CTL-23")
def test_a_budget_that_cannot_be_counted_allows_nothing() -> None:
    """Its status says why."""
    past = PodDisruptionBudgetStatus(3, current_healthy=3)
    it = attrs.evolve(budget(max_unavailable=1), status=past)
    world = world_with(nothing, it, serving("p", owner=of("x")))
    assert play(world).verdict.is_held
    status = status_in(world)
    assert (status.disruptions_allowed, status.current_healthy) == (0, 3)
    assert [(c.status, c.reason) for c in status.conditions] == [("False", "SyncFailed")]


@pytest.mark.spec("CTL-24")
def test_an_eviction_that_never_happens_is_given_back_after_two_minutes() -> None:
    """Its pod counts as healthy again, and an Event says that it was not deleted."""
    granted = PodDisruptionBudgetStatus(0, 2, 2, 3, disrupted_pods=Map(p1=0))
    it = attrs.evolve(budget(min_available=2), status=granted)
    world = world_with(nothing, it, *(serving(f"p{n}") for n in (1, 2, 3)))
    assert play(world).verdict.is_held
    status = status_in(world)
    assert (status.disruptions_allowed, status.disrupted_pods) == (1, Map())
    events: list[Any] = [entry.value for entry in world.store.snapshot("events/")]
    assert [(event.reason, event.involved.name) for event in events] == [("NotDeleted", "p1")]
    assert world.table.now_ms == 120_005


@pytest.mark.spec("CTL-25")
def test_a_condition_that_nothing_acts_on_is_reset_after_two_minutes() -> None:
    """Not that of a kubelet, and not that of a pod which has ended or is terminating."""
    target = Condition("DisruptionTarget", "True", "EvictionByEvictionAPI", since_ms=0)
    pods = (
        serving("stays", READY, target),
        serving("kubelet", attrs.evolve(target, reason="TerminationByKubelet")),
        serving("going", target).with_meta(deleted_ms=200_000, grace_s=200),
    )
    world = world_with(nothing, *pods)
    assert play(world).verdict.is_held
    entries: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    said = {e.meta.name: {c.type: c.status for c in e.status.conditions} for e in entries}
    assert said == {
        "stays": {"Ready": "True", "DisruptionTarget": "False"},
        "kubelet": {"DisruptionTarget": "True"},
        "going": {"DisruptionTarget": "True"},
    }


# -- the race of kubernetes#82149 -----------------------------------------------------------------


def twice(refused: list[str]) -> Doing:
    """Create a fourth pod, and evict two others, one right after the other."""

    async def run(client: Client) -> None:
        await client.sleep(1000)
        await client.create(serving("p4"))
        for name in ("p1", "p2"):
            try:
                await evict(client, serving(name))
            except TooManyRequests:
                refused.append(name)

    return run


OLD_COUNT = (
    "deliver disruption-controller/watch-pods pods/default/p4 ADDED",
    "resume disruption-controller/main queue *",
    "answer user/main create pods/default/p4",
    "serve user/main create/eviction.3 pods/default/p1",
    "serve disruption-controller/main update/status *",
    "answer disruption-controller/main update/status *",
)
"""The controller has counted p4, p1 is granted, and only then does the write of that count come."""
WRITTEN_OVER = (
    "serve disruption-controller/main get *",
    "answer disruption-controller/main get *",
    "serve disruption-controller/main update/status *",
)
"""And the count is written once more, at the revision of the grant."""


@pytest.mark.spec("CTL-23", "API-37")
@each_row("bug", ["on", "off"])
def test_a_count_from_before_an_eviction_is_not_written_over_it(bug: str) -> None:
    """A conflict says that the budget has changed; the old fault wrote the old count all the same,
    and the disruption that the eviction had taken was there again (kubernetes#82149)."""
    refused: list[str] = []
    status = PodDisruptionBudgetStatus(1, 3, 2, 3, observed_generation=1)
    it = attrs.evolve(budget(min_available=2), status=status)
    pods = [serving(f"p{n}") for n in (1, 2, 3)]
    switches = Map(bug_conflict_writes_old_status=bug)
    world = world_with(twice(refused), it, *pods, switches=switches)
    late = ("serve disruption-controller/main *", "deliver disruption-controller/*")
    cues = OLD_COUNT + (WRITTEN_OVER if bug == "on" else ())
    play(world, *cues, late=late)
    assert refused == ([] if bug == "on" else ["p2"])


# -- the claim ------------------------------------------------------------------------------------


def judged(it: PodDisruptionBudget, *pods: Pod, now_ms: int = 0) -> str:
    """What the claim says of a World in which nothing counts this budget."""

    async def wait(client: Client) -> None:
        await client.sleep(now_ms)

    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.add(it, *pods)
    world.start(Puppet("user", wait))
    world.claim(BudgetStatusesAreRight())
    verdict = world.run(Calm(), driver="direct")
    return " ".join(violation.said for violation in verdict.violations)


@pytest.mark.spec("INV-32")
def test_a_wrong_status_is_told() -> None:
    """Each of its numbers, a grant that is carried out or too old, and an owner that is unknown."""
    right = PodDisruptionBudgetStatus(1, 1, 0, 1, observed_generation=1)
    it = attrs.evolve(budget(min_available=0), status=right)

    def with_(**status: Any) -> PodDisruptionBudget:
        return attrs.evolve(it, status=attrs.evolve(right, **status))

    pod = serving("p")
    assert judged(it, pod) == ""
    for field in ("disruptions_allowed", "current_healthy", "desired_healthy", "expected_pods"):
        assert "it is 1, 1, 0, 1" in judged(with_(**{field: 7}), pod)
    assert "which is gone" in judged(with_(disrupted_pods=Map(q=0)), pod)
    granted = with_(disrupted_pods=Map(p=0), disruptions_allowed=0, current_healthy=0)
    assert judged(granted, pod, now_ms=120_000) == ""
    assert "granted 120001 ms ago" in judged(granted, pod, now_ms=120_001)
    shared = attrs.evolve(budget(max_unavailable=1), status=right)
    assert "of an unknown owner and allows 1" in judged(shared, serving("p", owner=of("x")))
    newer = with_().with_meta(generation=2)
    assert "since its spec has changed" in judged(newer, pod)
