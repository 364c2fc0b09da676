"""The Deployment controller at work: it rolls out, scales, waits, and keeps its bounds."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.deployment.revision import REVISION
from actors.controllers.frame.wanted import wanted_by
from actors.controllers.replicaset import ReplicaSetController
from testbed import Client
from testbed.choosers.bounded import Bounded
from testbed.errors import ApiError
from testbed.faults.crash import Crash
from testbed.invariant import Evidence, always
from testbed.objects import Deployment, Event, Meta, Pod, ReplicaSet, UpdateStrategy
from testbed.objects.form import to_tree
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.workloads import (
    Readier,
    all_of,
    deployment,
    template,
    versions,
    workload_world,
)
from tests.shared.stage import Doing, Puppet, play

QUIET = {"events": "off"}
SOON_MS = 1000


def controllers(**switches: str) -> tuple[Any, ...]:
    """The two controllers that a Deployment needs."""
    given = {**QUIET, **switches}
    return (
        DeploymentController("deployments", switches=given),
        ReplicaSetController("replicasets", switches=given),
    )


async def roll(client: Client, version: str) -> None:
    """Give the Deployment another template."""
    tree = to_tree(template(version))
    await client.patch(Deployment("web"), {"spec": {"template": tree}})


def rolled(user: Doing, readier: Readier | None = None, things: Any = ()) -> World:
    """Play what the user does, with a stand-in for nodes."""
    world = workload_world(user, *controllers(), readier or Readier("nodes"), things=things)
    play(world)
    return world


def sizes(world: World) -> list[int]:
    """How many pods its ReplicaSets are told to have."""
    return sorted(wanted_by(each) for each in all_of(world, ReplicaSet))


def bounded(least: int, most: int) -> Any:
    """The claim that there are never more pods than that, and never fewer available ones, once all
    have been there."""
    seen = {"full": False}

    def bounds_are_kept(see: Evidence) -> str | None:
        pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
        live = [pod for pod in pods if not pod.meta.is_terminating]
        ready = [pod for pod in live if pod.is_ready]
        seen["full"] = seen["full"] or len(ready) >= least
        if len(live) > most:
            return f"there are {len(live)} pods, more than {most}"
        if seen["full"] and len(ready) < least:
            return f"{len(ready)} pods are available, fewer than {least}"
        return None

    return always(bounds_are_kept)


@each_row(("surge", "unavailable"), [(1, 0), (0, 1), ("50%", "50%"), (5, 3)])
def test_a_rollout_replaces_all_within_its_bounds(surge: Any, unavailable: Any) -> None:
    """Calmly, nothing else goes wrong meanwhile."""

    async def user(client: Client) -> None:
        await client.create(deployment(3, surge, unavailable))
        await client.sleep(SOON_MS)
        await roll(client, "2")

    world = workload_world(user, *controllers(), Readier("nodes", after_ms=10))
    most, least = {"50%": (5, 2), 5: (8, 0), 1: (4, 3), 0: (3, 2)}[surge]
    world.claim(bounded(least, most))
    play(world)
    assert versions(world) == {"2": 3}
    assert sizes(world) == [0, 3]


def test_the_old_template_brings_back_its_old_replicaset() -> None:
    """With a new number; and a third template while the second is on its way wins."""

    async def user(client: Client) -> None:
        await client.create(deployment(3))
        for version in ("2", "1", "3", "1"):
            await client.sleep(SOON_MS)
            await roll(client, version)
        await client.sleep(1)
        await roll(client, "4")

    world = rolled(user, Readier("nodes", after_ms=5))
    assert versions(world) == {"4": 3}
    numbers = [int(each.meta.annotations[REVISION]) for each in all_of(world, ReplicaSet)]
    assert sorted(numbers) == [2, 4, 5, 6]


def test_it_is_scaled_with_and_without_a_rollout() -> None:
    """A paused one is only scaled; its new template waits."""
    seen: list[Any] = []

    async def user(client: Client) -> None:
        await client.create(deployment(2))
        await client.sleep(SOON_MS)
        spec: dict[str, Any] = {"paused": True, "replicas": 4}
        await client.patch(Deployment("web"), {"spec": spec})
        await roll(client, "2")
        await client.sleep(SOON_MS)
        seen.append(versions(world))
        await client.patch(Deployment("web"), {"spec": {"paused": False}})

    world = workload_world(user, *controllers(), Readier("nodes"))
    play(world)
    assert [*seen, versions(world)] == [{"1": 4}, {"2": 4}]


def test_to_recreate_it_ends_the_old_pods_before_it_starts_new_ones() -> None:
    """A terminating pod may still run: it waits until that is gone."""
    strategy = UpdateStrategy("Recreate")
    seen: list[Any] = []

    async def user(client: Client) -> None:
        await client.create(deployment(2, strategy=strategy))
        await client.sleep(SOON_MS)
        (first, *_) = (await client.list(Pod)).items
        await client.patch(first, {"metadata": {"finalizers": ["x"]}})
        await roll(client, "2")
        await client.sleep(SOON_MS)
        seen.append(versions(world))
        await client.patch(first, {"metadata": {"finalizers": []}})

    world = workload_world(user, *controllers(), Readier("nodes"))
    play(world)
    assert [*seen, versions(world)] == [{}, {"2": 2}]


def test_the_history_is_kept_to_its_limit() -> None:
    """The empty ReplicaSets with the lowest numbers go."""

    async def user(client: Client) -> None:
        await client.create(deployment(1, revision_history_limit=1))
        for version in "234":
            await client.sleep(SOON_MS)
            await roll(client, version)

    world = rolled(user)
    numbers = [each.meta.annotations[REVISION] for each in all_of(world, ReplicaSet)]
    assert sorted(numbers) == ["3", "4"]


def test_a_name_that_is_taken_by_another_is_not_used() -> None:
    """It counts the collision, and takes the next name."""
    name = "web-" + str(all_names()[0])

    async def user(client: Client) -> None:
        await client.create(deployment(1))

    spec = attrs.evolve(ReplicaSet("x").spec, template=template("other"))
    world = rolled(user, things=(ReplicaSet(Meta(name), spec=spec),))
    (item,) = all_of(world, Deployment)
    assert item.status.collision_count == 1
    assert versions(world) == {"1": 1, "other": 1}


def all_names() -> list[str]:
    """The hashes that its template gets."""
    seen: list[str] = []

    async def user(client: Client) -> None:
        await client.create(deployment(1))

    seen += [each.meta.labels["pod-template-hash"] for each in all_of(rolled(user), ReplicaSet)]
    return seen


def test_it_says_what_it_scales() -> None:
    """An Event for each step."""

    async def user(client: Client) -> None:
        await client.create(deployment(1))
        await client.sleep(SOON_MS)
        await roll(client, "2")

    world = workload_world(user, *controllers(events="on"), Readier("nodes"))
    play(world)
    said = [each.message for each in all_of(world, Event) if each.reason == "ScalingReplicaSet"]
    assert [text.split()[1] for text in sorted(said)] == ["down", "up", "up"]


def test_after_a_crash_at_any_turn_it_goes_on() -> None:
    """Nothing that it must know is in its memory."""

    async def user(client: Client) -> None:
        await client.create(deployment(1))
        await client.sleep(SOON_MS)
        try:
            await roll(client, "2")
        except ApiError as error:
            client.record("failed", error=error.reason)

    def build(world: World) -> None:
        world.serve(ApiServer)
        world.start(*controllers(), Readier("nodes"), Puppet("user", user))
        world.allow(Crash("deployments", restart_after_ms=50))

    def look(world: World) -> bool:
        assert versions(world) == {"2": 1}, attrs.asdict(all_of(world, Deployment)[0].status)
        return True

    crashes = Bounded(deviations_max=1)
    assert play_runs(of(build, "crashes"), crashes, look, runs_max=60, driver="direct") == 60
