"""The StatefulSet controller: names stay, and there is an order."""

from __future__ import annotations

from typing import Any

import attrs

from actors.controllers.statefulset import (
    REVISION,
    StatefulSetController,
    hash_of,
    ordered_pod,
    planned,
)
from testbed import Client, Operation
from testbed.objects import Condition, Pod, PodStatus, StatefulSet, StatefulSetSpec
from testbed.objects.deployment import OrderedUpdate, OrderedUpdateStrategy
from testbed.objects.form import to_tree
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.workloads import Readier, all_of, template, workload_world
from tests.shared.stage import Doing, play


def db(replicas: int, policy: str = "", partition: int = 0, version: str = "1") -> StatefulSet:
    """A StatefulSet of that many pods."""
    strategy = OrderedUpdateStrategy("RollingUpdate", OrderedUpdate(partition))
    spec = StatefulSetSpec(
        replicas, template=template(version), pod_management_policy=policy, update_strategy=strategy
    )
    return StatefulSet("db", spec=spec)


def pod(number: int, state: str = "ready", version: str = "1") -> Pod:
    """A pod of it: ready, pending, failed or going."""
    made = ordered_pod(db(1, version=version), number)
    ready = (Condition("Ready", "True", since_ms=0),) if state in ("ready", "going") else ()
    phase = {"failed": "Failed", "pending": "Pending"}.get(state, "Running")
    made = attrs.evolve(made, status=PodStatus(phase, conditions=ready))
    return made.with_meta(deleted_ms=1) if state == "going" else made


STEPS: list[tuple[StatefulSet, list[Pod], list[int], list[str]]] = [
    (db(3), [], [0], []),
    (db(3, "Parallel"), [], [0, 1, 2], []),
    (db(3), [pod(0)], [1], []),
    (db(3), [pod(0, "pending")], [], []),
    (db(3), [pod(1)], [0], []),
    (db(2), [pod(0, "failed"), pod(1)], [], ["db-0"]),
    (db(2), [pod(0, "going"), pod(1)], [], []),
    (db(1), [pod(0), pod(1), pod(2)], [], ["db-2"]),
    (db(1), [pod(0), pod(1), pod(2, "going")], [], []),
    (db(1), [pod(0, "pending"), pod(1)], [], []),
    (db(1), [pod(0), pod(1, "pending"), pod(2)], [], ["db-2"]),
    (db(1), [pod(0), pod(1), pod(2, "pending")], [], ["db-2"]),
    (db(1), [pod(0), pod(1, "pending"), pod(2, "pending")], [], []),
    (db(1, "Parallel"), [pod(0), pod(1), pod(2)], [], ["db-2", "db-1"]),
    (db(2, version="2"), [pod(0), pod(1)], [], ["db-1"]),
    (db(2, version="2"), [pod(0), pod(1, version="2")], [], ["db-0"]),
    (db(2, version="2"), [pod(0), pod(1, "going")], [], []),
    (db(2, "", 1, "2"), [pod(0), pod(1, version="2")], [], []),
]


@each_row(("item", "pods", "create", "delete"), STEPS)
def test_the_next_step_keeps_the_order(
    item: StatefulSet, pods: list[Pod], create: list[int], delete: list[str]
) -> None:
    """One pod at a time, the first ones first and the last one away first; with Parallel all."""
    plan = planned(item, pods)
    assert (list(plan.create), [each.meta.name for each in plan.delete]) == (create, delete)


def run(user: Doing) -> World:
    """Play what the user does."""
    controller = StatefulSetController("sets", switches={"events": "off"})
    world = workload_world(user, controller, Readier("nodes"))
    play(world)
    return world


def test_a_pod_comes_again_under_its_name() -> None:
    """Another pod of that name; the status counts."""
    uids: list[str] = []

    async def user(client: Client) -> None:
        await client.create(db(3))
        await client.sleep(1000)
        uids.append((await client.get(Pod, "db-1")).meta.uid)
        await client.ask(Operation("delete", "pods", "db-1", "default"))

    world = run(user)
    pods = all_of(world, Pod)
    assert [each.meta.name for each in pods] == ["db-0", "db-1", "db-2"]
    assert pods[1].meta.uid != uids[0]
    (item,) = all_of(world, StatefulSet)
    status: Any = item.status
    assert (status.replicas, status.available_replicas, status.updated_replicas) == (3, 3, 3)


def test_it_is_scaled_and_updated() -> None:
    """Down to one, and to a new template."""

    async def user(client: Client) -> None:
        await client.create(db(3))
        await client.sleep(1000)
        await client.patch(StatefulSet("db"), {"spec": {"replicas": 2}})
        tree = {"spec": {"template": to_tree(template("2"))}}
        await client.patch(StatefulSet("db"), tree)

    world = run(user)
    (item,) = all_of(world, StatefulSet)
    revisions = [each.meta.labels[REVISION] for each in all_of(world, Pod)]
    assert revisions == [hash_of(item.spec.template)] * 2
