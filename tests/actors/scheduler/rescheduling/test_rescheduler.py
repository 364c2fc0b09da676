"""A Rescheduler makes room by itself; what the scheduler does of that room is another matter."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.scheduler import Rescheduler, Scheduler
from actors.scheduler.invariants import scheduler_claims
from actors.scheduler.rescheduling.guard_taint import TAINT
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Map, Node, Object, Pod, PriorityClass
from testbed.objects.affinity import Toleration
from testbed.turns.verdict import Verdict
from testbed.world.world import World
from tests.shared.scheduling import (
    NAME,
    PRIORITIES,
    node_of,
    pending,
    pod_of,
    records,
    there,
    with_kubelets,
)
from tests.shared.stage import Doing, Puppet

BY_RESCHEDULER = {"preemptor": "rescheduler"}
ALLOWED = Toleration("CriticalAddonsOnly", "Exists")


def world_of(
    *things: Object, nodes: int = 1, users: tuple[Doing, ...] = (), **switches: str
) -> World:
    """A World of nodes with 10 cpus each, kubelets, a scheduler, and a Rescheduler."""
    world = World("rescheduled")
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    names = [f"n{number}" for number in range(1, nodes + 1)]
    world.add(*(Node.of(name, cpu_m=10_000) for name in names), *things)
    given = Map({**BY_RESCHEDULER, **switches})
    world.start(Scheduler(NAME, switches=given), Rescheduler("rescheduler", switches=given))
    for number, user in enumerate(users):
        world.start(Puppet(f"user-{number}", user))
    world.claim(*scheduler_claims())
    return with_kubelets(world, *names)


def played(world: World) -> Verdict:
    """Played calmly; every claim holds."""
    verdict = world.run(Calm(), driver="direct")
    assert verdict.is_held, str(verdict)
    return verdict


def at(ms: int, pod: Pod) -> Doing:
    """A user that creates the pod at that time."""

    async def do(client: Client) -> None:
        await client.sleep(ms)
        await client.create(pod)

    return do


def made(world: World) -> list[tuple[int, str, str]]:
    """When room was made, for which pod, and on which node."""
    return [
        (r.now_ms, r.facts["pod"].rpartition("/")[2], r.facts["preemption"]["chosen"])
        for r in world.table.records
        if r.name == "makes room"
    ]


@pytest.mark.spec("CTL-50", "CTL-51")
def test_it_makes_room_at_its_next_scan_and_the_scheduler_places_the_pod() -> None:
    """For a pod that the scheduler found no node for; its victims end with their own grace."""
    old = there("old", 8, grace_s=3)
    world = world_of(old, users=(at(1000, pending("new", 5, 1000)),))
    played(world)
    assert made(world) == [(10_000, "new", "n1")]
    assert node_of(world, "new") == "n1"
    assert pod_of(world, "old") is None
    assert not [r for r in records(world, "cycle") if "preemption" in r], "the scheduler makes none"


@pytest.mark.spec("CTL-50")
def test_it_does_nothing_if_another_program_is_the_preemptor() -> None:
    """The same World under each value of the switch."""
    found = {}
    for preemptor in ("scheduler", "rescheduler", "kubelet", "none"):
        old = there("old", 8, grace_s=3)
        new = at(1000, pending("new", 5, 1000))
        world = world_of(old, users=(new,), preemptor=preemptor)
        played(world)
        found[preemptor] = (len(made(world)), node_of(world, "new"))
    assert found.pop("kubelet") == (0, "n1"), "bound at once, and rejected: its kubelet is another"
    assert found == {"scheduler": (0, "n1"), "rescheduler": (1, "n1"), "none": (0, "")}


@pytest.mark.spec("CTL-51")
def test_a_pod_waits_as_long_as_it_must_and_the_most_important_comes_first() -> None:
    """Both by the time of the condition; the scans keep their distance."""
    there_are = [there("a", 5, grace_s=1), there("b", 5, grace_s=1)]
    users = (at(1000, pending("low", 5, 50)), at(1000, pending("high", 5, 1000)))
    switches: dict[str, Any] = {
        "rescheduler_min_pending_ms": "25000",
        "rescheduler_interval_ms": "4000",
    }
    world = world_of(*there_are, users=users, **switches)
    played(world)
    assert made(world) == [(28_000, "high", "n1"), (28_000, "low", "n1")]
    assert (node_of(world, "high"), node_of(world, "low")) == ("n1", "n1")


@pytest.mark.spec("CTL-51", "SCH-71")
def test_it_keeps_the_rules_of_preemption() -> None:
    """No victim of the same priority, none for a pod that must never preempt, and none twice for a
    pod that waits for its victims already."""
    polite = PriorityClass("polite", value=2000, preemption_policy="Never")
    never = at(1000, Pod.of("never", cpu_m=5000, priority_class_name="polite", scheduler_name=NAME))
    world = world_of(polite, there("a", 8, 1000), users=(never, at(1000, pending("peer", 5, 1000))))
    played(world)
    assert made(world) == []
    slow = world_of(
        there("slow", 10, grace_s=60), there("other", 10, 50, node="n2"), nodes=2,
        users=(at(1000, pending("new", 5, 1000)),),
    )  # fmt: skip
    played(slow)
    assert made(slow) == [(10_000, "new", "n1")]


@pytest.mark.spec("CTL-52", "SCH-109")
def test_without_a_nomination_the_scheduler_gives_the_room_away() -> None:
    """To a lesser pod that asks first; with it, the room is kept."""
    stolen = {}
    for nominates in ("off", "on"):
        old = [there("a", 5, grace_s=30), there("b", 5, grace_s=5)]
        world = world_of(
            *old, users=(at(1000, pending("new", 10, 1000)), at(16_000, pending("thief", 5, 50))),
            rescheduler_nominates=nominates,
        )  # fmt: skip
        played(world)
        stolen[nominates] = (len(made(world)), pod_of(world, "thief") is None)
        assert node_of(world, "new") == "n1"
    assert stolen == {"off": (2, True), "on": (1, False)}


@pytest.mark.spec("CTL-53")
def test_a_taint_keeps_the_node_free_for_a_pod_that_tolerates_it() -> None:
    """Until the pod is bound; for one that does not tolerate it there is no taint."""
    for tolerations, is_kept in (((ALLOWED,), True), ((), False)):
        old = [there("a", 5, grace_s=30), there("b", 5, grace_s=5)]
        new = pending("new", 10, 1000, tolerations=tolerations)
        world = world_of(
            *old, users=(at(1000, new), at(16_000, pending("thief", 5, 50))),
            rescheduler_taints="on",
        )  # fmt: skip
        played(world)
        assert len(made(world)) == (1 if is_kept else 2)
        guarded = [r.now_ms for r in world.table.records if r.name == "guards"]
        freed = [r.now_ms for r in world.table.records if r.name == "frees"]
        assert guarded == ([10_000] if is_kept else [])
        assert freed == ([50_000] if is_kept else [])
        node: Any = world.store.peek("nodes/n1")
        assert node.value.spec.taints == ()


@pytest.mark.spec("CTL-53")
def test_the_taint_goes_after_ten_minutes_and_with_a_new_life() -> None:
    """Whatever became of the pod: a victim that never ends keeps it waiting."""
    old = there("old", 10, grace_s=3600)
    new = pending("new", 5, 1000, tolerations=(ALLOWED,))
    world = world_of(old, users=(at(1000, new),), rescheduler_taints="on")
    played(world)
    assert next(r.now_ms for r in world.table.records if r.name == "frees") == 610_000
    stale = Node.of("n1", cpu_m=10_000, taints=(TAINT,))
    left = World("left")
    left.serve(ApiServer)
    left.add(stale)
    left.start(Rescheduler("rescheduler", switches=BY_RESCHEDULER))
    assert left.run(Calm(), driver="direct").is_held
    entry: Any = left.store.peek("nodes/n1")
    assert entry.value.spec.taints == ()


@pytest.mark.spec("CTL-51")
def test_whatever_order_things_happen_in_the_pod_gets_room() -> None:
    """Also if the Rescheduler crashes and has forgotten for which pods it made room."""
    for seed in range(20):
        world = world_of(
            there("a", 5, grace_s=2), there("b", 5, 50, node="n2", grace_s=2), nodes=2,
            users=(at(1000, pending("new", 8, 1000)), at(1000, pending("low", 3, 50))),
        )  # fmt: skip
        world.allow(Crash("rescheduler", restart_after_ms=2000))
        verdict = world.run(Uniform(seed), driver="direct")
        assert verdict.is_held, str(verdict)
        assert node_of(world, "new"), f"seed {seed}"


@pytest.mark.spec("CTL-50")
def test_a_users_own_scheduler_does_not_take_its_place() -> None:
    """The switch that names another program is for schedulers; all others are shared."""
    with pytest.raises(ScenarioError, match="rescheduler_interval_ms=0"):
        world_of(rescheduler_interval_ms="0")
    assert partial(Rescheduler, "r")().component.program == ""
