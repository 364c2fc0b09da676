"""Static pods: they run without the API, take their room, and are shown by a mirror pod."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from actors.kubelet import Workload
from actors.kubelet.static_pods import static_pod
from actors.shared.critical import MIRROR, is_mirror, is_static
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.server_error import ServerError
from testbed.objects import Object, Pod
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import (
    KUBELET,
    at,
    bound,
    calm,
    delete,
    node_world,
    pod_of,
    running,
    runtime,
    story,
)
from tests.shared.stage import Cued, play

NAME = "proxy-n1"


def with_static(*things: Object, user: Any = None, cpu_m: int = 400, **habits: Any) -> World:
    """A node whose kubelet has a static pod."""
    manifest = Workload(stops_after_ms=100).given_to(Pod.of("proxy", cpu_m=cpu_m))
    return node_world(*things, user=user, static_pods=(manifest,), **habits)


def starts(world: World) -> int:
    """How often the containers of the static pod were started."""
    said = [r for r in world.evidence.records if r.name in ("started", "restarted")]
    return sum(1 for record in said if record.facts["pod"].endswith(NAME))


def come(name: str) -> Any:
    """What a user does who gives the node a pod of 800m."""

    async def do(client: Client) -> None:
        await client.create(bound(name, 800))

    return do


def test_a_manifest_becomes_a_pod_of_its_node() -> None:
    """Of that name, that uid and that node, and known by an annotation."""
    pod = static_pod(Pod.of("proxy"), "n7")
    assert (pod.meta.name, pod.meta.uid, pod.spec.node_name) == (
        "proxy-n7",
        "static-proxy-n7",
        "n7",
    )
    assert is_static(pod)
    assert not is_mirror(pod)


@pytest.mark.spec("KUB-1", "KUB-16")
def test_a_static_pod_is_shown_by_a_mirror_pod() -> None:
    """Which has its status, and the node has no other containers than those of the static one."""
    world = with_static(ready_delay_ms=500)
    calm(world)
    assert story(world, NAME) == ["0 Pending", "0 Running", "500 Running Ready"]
    mirror = pod_of(world, NAME)
    assert mirror.meta.annotations[MIRROR] == "static-proxy-n1"
    assert [report.pod.meta.uid for report in runtime(world).reports(1000)] == ["static-proxy-n1"]


@pytest.mark.spec("KUB-1")
@each_row("grace", [{}, {"grace_s": 0}], ids=["gracefully", "by_force"])
def test_who_deletes_a_mirror_pod_ends_nothing(grace: dict[str, Any]) -> None:
    """There is another one at once, with the same status, and the containers have run on."""
    world = with_static(user=at((5000, partial(delete, name=NAME, **grace))))
    calm(world)
    seen = story(world, NAME)
    assert seen[seen.index("5000 gone") :] == ["5000 gone", "5000 Pending", "5000 Running Ready"]
    assert starts(world) == 1
    assert running(world, 10**6) == [NAME]


@pytest.mark.spec("KUB-1", "KUB-3")
def test_a_static_pod_takes_its_room_before_anybody_can_see_it() -> None:
    """Its mirror pod comes late, and what is bound into the room that it takes is refused."""
    world = with_static(user=at((1000, come("a"))), switches={"mirror_delay_ms": "5000"})
    calm(world)
    assert story(world, "a")[-1] == "1000 Failed OutOfcpu"
    assert story(world, NAME)[0] == "5000 Pending"


@pytest.mark.spec("KUB-1")
def test_a_mirror_pod_that_could_not_be_created_comes_a_minute_later() -> None:
    """The static pod runs all the while."""
    world = with_static()
    world.allow(ServerError(KUBELET))
    play(world, f"fault * server_error {KUBELET}/mirror-{NAME} create*")
    assert story(world, NAME)[0] == "60000 Pending"
    assert story(world, NAME)[-1] == "60000 Running Ready"
    assert starts(world) == 1


@pytest.mark.spec("KUB-1", "KUB-43")
def test_a_static_pod_outlives_its_kubelet() -> None:
    """The next life finds its containers and its mirror pod, and makes no others."""
    world = with_static(user=at((1000, come("a"))))
    world.allow(Crash(KUBELET, restart_after_ms=3000))
    verdict = world.run(Cued("wake user/main *", f"fault * crash {KUBELET}"), driver="direct")
    assert verdict.is_held, str(verdict)
    assert starts(world) == 1
    assert len(runtime(world).reports(10**6)) == 1
    assert story(world, NAME)[-1] == "0 Running Ready"
    assert story(world, "a")[-1] == "4000 Failed OutOfcpu"
