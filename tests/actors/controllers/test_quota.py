"""The quota controller: what is counted, when it is counted again, and who may come between."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.quota import QuotaController, counted
from testbed.client.client import Client
from testbed.errors import Forbidden, Unavailable
from testbed.faults.crash import Crash
from testbed.faults.server_error import ServerError
from testbed.objects import (
    Map,
    Pod,
    PodStatus,
    QuotaSpec,
    QuotaStatus,
    ResourceQuota,
    ScopedRequirement,
)
from testbed.objects.quota import ScopeSelector
from testbed.world.world import World
from tests.shared.stage import Doing, Played, play, world_of

SOON_MS = 100


def quota(**hard: Any) -> ResourceQuota:
    """A quota that no controller has counted yet."""
    named = {name.replace("_", "/"): amount for name, amount in hard.items()}
    return ResourceQuota("q", spec=QuotaSpec(Map(named)))


def world_with(do: Doing, resync_ms: int = 300_000) -> World:
    """An API server, a quota controller, and a user who does something."""
    world = world_of(user=do)
    world.serve(ApiServer)
    world.start(QuotaController("quota", resync_ms=resync_ms))
    return world


def run(do: Doing, *late: str, resync_ms: int = 300_000) -> Played:
    """Play that, calmly but for what is late."""
    return play(world_with(do, resync_ms), late=late)


async def wait(client: Client, seconds: int) -> None:
    """Wait that long, a second at a time."""
    for _ in range(seconds):
        await client.sleep(1000)


async def used(client: Client) -> dict[str, str]:
    """What the quota says is taken, a little later."""
    await client.sleep(SOON_MS)
    item = await client.get(ResourceQuota, "q")
    return {name: str(amount) for name, amount in item.status.used.items()}


async def end(client: Client, pod: Pod, phase: str = "Succeeded") -> None:
    """Let the pod have come to that phase."""
    await client.patch(pod, {"status": {"phase": phase}}, subresource="status")


# -- counting -------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-20", "PRI-21")
def test_it_counts_the_pods_that_the_quota_is_about() -> None:
    """Those of its namespace that meet its scopes; what no pod takes stays as it was."""
    high = ScopeSelector((ScopedRequirement("PriorityClass", "In", ("high",)),))
    spec = QuotaSpec(Map(pods=9, services=3, **{"requests.cpu": 4}), scope_selector=high)
    status = QuotaStatus(Map(pods=1), Map(pods=7, services=2, secrets=5))
    item = ResourceQuota("q", spec=spec, status=status)
    pods = [
        Pod.of("p", cpu_m=100, priority_class_name="high"),
        Pod.of("r", cpu_m=200, priority_class_name="high"),
        Pod.of("low", cpu_m=400, priority_class_name="low"),
        Pod.of("other/p", cpu_m=800, priority_class_name="high"),
        attrs.evolve(Pod.of("over", priority_class_name="high"), status=PodStatus("Failed")),
    ]
    told = counted(item, pods, 0)
    assert told.hard == spec.hard
    assert {name: str(amount) for name, amount in told.used.items()} == {
        "pods": "2", "services": "2", "requests.cpu": "300m",
    }  # fmt: skip


@pytest.mark.spec("PRI-22")
def test_a_new_quota_limits_nobody_until_it_is_counted() -> None:
    """The pods that are there are counted, too; its limits are those its controller took over."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        await client.create(Pod.of("p"))
        await client.create(quota(pods=2))
        await client.create(Pod.of("r"))
        seen.append(await used(client))
        with pytest.raises(Forbidden, match="exceeded quota: q, requested: pods=1, used: pods=2"):
            await client.create(Pod.of("s"))

    run(do)
    assert seen == [{"pods": "2"}]


@pytest.mark.spec("PRI-22")
def test_limits_that_change_hold_once_they_are_counted() -> None:
    """Until then the old ones do."""

    async def do(client: Client) -> None:
        await client.create(quota(pods=1))
        await used(client)
        await client.create(Pod.of("p"))
        await client.patch(quota(), {"spec": {"hard": {"pods": "2"}}})
        with pytest.raises(Forbidden):
            await client.create(Pod.of("r"))
        await used(client)
        await client.create(Pod.of("r"))

    run(do)


# -- giving back ----------------------------------------------------------------------------------


@pytest.mark.spec("PRI-24")
def test_a_pod_frees_what_it_took_when_it_ends_and_its_count_when_it_is_gone() -> None:
    """Not when its deletion is asked for."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        await client.create(quota(pods=5, count_pods=5))
        await used(client)
        pod = await client.create(Pod.of("p", node_name="n1"))
        seen.append(await used(client))
        await client.delete(pod, whatever_it_was=True)
        seen.append(await used(client))
        await end(client, pod, "Failed")
        seen.append(await used(client))
        await client.delete(pod, whatever_it_was=True, options=Map(grace_s=0))
        seen.append(await used(client))

    run(do)
    taken = [(each["pods"], each["count/pods"]) for each in seen]
    assert taken == [("1", "1"), ("1", "1"), ("0", "1"), ("0", "0")]


@pytest.mark.spec("PRI-24")
def test_a_pod_that_is_removed_frees_what_it_took() -> None:
    """Without having ended; another one of its place is let in."""

    async def do(client: Client) -> None:
        await client.create(quota(pods=1))
        await used(client)
        pod = await client.create(Pod.of("p"))
        await client.delete(pod)
        await used(client)
        await client.create(Pod.of("r"))

    run(do)


@pytest.mark.spec("PRI-22", "PRI-24")
def test_what_was_charged_for_a_pod_that_never_came_is_freed_at_the_next_count() -> None:
    """No change tells of it: it takes the resync."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        item = await client.create(quota(pods=5))
        await client.sleep(SOON_MS)
        charged = QuotaStatus(Map(pods=5), Map(pods=3))
        item = await client.get(ResourceQuota, "q")
        await client.update(attrs.evolve(item, status=charged), subresource="status")
        seen.append(await used(client))
        await wait(client, 10)
        seen.append(await used(client))

    run(do, resync_ms=10_000)
    assert seen == [{"pods": "3"}, {"pods": "0"}]


@pytest.mark.spec("PRI-22")
def test_a_server_that_crashes_after_the_charge_leaves_it_to_the_next_count() -> None:
    """The user is told nothing, the pod is not there, and its place is taken for a while."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        await client.create(quota(pods=1))
        await used(client)
        with pytest.raises(Unavailable):
            await client.create(Pod.of("p"))
        await wait(client, 3)
        seen.append(await used(client))
        with pytest.raises(Forbidden, match="exceeded quota"):
            await client.create(Pod.of("p"))
        await wait(client, 60)
        await client.create(Pod.of("p"))

    world = world_with(do, resync_ms=30_000)
    world.allow(Crash(target="api", restart_after_ms=1000))
    parts = [f"serve user/main create{part} pods/default/p" for part in ("", ".2")]
    play(world, *parts, "fault * crash api")
    assert seen == [{"pods": "1"}]


@pytest.mark.spec("PRI-21", "PRI-24")
def test_a_pod_that_is_stuck_frees_what_it_took_at_the_next_count() -> None:
    """Well after it was to be gone, though nothing happens to it."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        await client.create(quota(pods=5))
        await used(client)
        pod = await client.create(Pod.of("p", node_name="n1", grace_s=5))
        await client.delete(pod)
        seen.append(await used(client))
        await wait(client, 12)
        seen.append(await used(client))

    run(do, resync_ms=3_000)
    assert seen == [{"pods": "1"}, {"pods": "0"}]


# -- who comes between ----------------------------------------------------------------------------


@pytest.mark.spec("PRI-22")
def test_it_overwrites_no_charge_it_has_not_seen() -> None:
    """A pod is charged between its count and its write: it is refused, and counts again."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        await client.create(quota(pods=5))
        await used(client)
        first = await client.create(Pod.of("p"))
        await client.sleep(SOON_MS)
        await client.delete(first)
        await client.sleep(0)
        await client.create(Pod.of("r"))
        seen.append(await used(client))

    played = run(do, "serve quota/main update/status *")
    assert seen == [{"pods": "1"}]
    tried = played.every("serve quota/main update/status *")
    assert [step.outcome for step in tried] == ["", "Conflict", ""]


@pytest.mark.spec("PRI-22")
def test_a_write_that_fails_is_tried_again_later() -> None:
    """After 5 ms, and twice as long each time."""
    seen: list[Any] = []

    async def do(client: Client) -> None:
        await client.create(quota(pods=5))
        seen.append(await used(client))

    world = world_with(do)
    world.allow(ServerError("quota", times_max=2))
    played = play(world, *["fault * server_error quota update/status *"] * 2)
    assert seen == [{"pods": "0"}]
    waits = played.every("wake quota/later* again resourcequotas/default/q")
    assert [step.now_ms for step in waits] == [5, 15]
