"""How a kubelet says that it lives, and how it is noticed when it no longer does."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Pulse, PulseSensor, Runtime
from actors.shared.node_lease import is_implied
from testbed.faults.crash import Crash
from testbed.faults.partition import Partition
from testbed.objects import Node
from testbed.objects.condition import find
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import KUBELET


def beating(heartbeat: str, *, race: str = "", until_s: int = 100) -> Played:
    """Two nodes whose kubelets report that they live, played with these faults."""

    def nodes(world: World) -> None:
        world.serve(ApiServer)
        for name in ("n1", "n2"):
            world.add(Node.of(name, cpu_m=1000))
            world.serve(lambda store, name=name: Runtime(store, name))  # type: ignore[misc]
            world.start(Kubelet(f"kubelet-{name}", name, switches={"heartbeat": heartbeat}))
        world.serve(lambda store: PulseSensor(store, world.table.roles))
        world.start(Pulse("pulse"))
        world.allow(Crash(KUBELET), Partition(KUBELET))
        world.limit(virtual_ms_max=until_s * 1000)

    text = f"scenario: test_heartbeat:nodes\n{race}"
    made: Race = parse(text, "test_heartbeat")
    return play(made, of(nodes))


def writes(played: Played, plural: str, name: str) -> list[tuple[int, Any]]:
    """Each write of one object, and when."""
    world = played.world
    found = []
    for change in world.store.log(plural).after(0):
        if change.key.endswith(f"/{name}") and change.new is not None:
            _, now_ms = world.wire.streams.commits.get(change.revision, (0, 0))
            found.append((now_ms, change.new.value))
    return found


@pytest.mark.spec("KUB-41")
def test_a_lease_is_renewed_every_ten_seconds() -> None:
    """And the status is written when the kubelet begins, and then every five minutes."""
    played = beating("every", until_s=620)
    times = [now_ms for now_ms, _ in writes(played, "leases", "n1")]
    assert times == [*range(0, 620_001, 10_000)]
    lease = writes(played, "leases", "n1")[-1][1]
    assert (lease.spec.holder, lease.spec.duration_s) == ("n1", 40)
    nodes = writes(played, "nodes", "n1")
    assert [now_ms for now_ms, _ in nodes] == [0, 0, 300_000, 600_000]
    ready = find(nodes[-1][1].status.conditions, "Ready")
    assert ready is not None
    assert (ready.status, ready.since_ms, ready.heartbeat_ms) == ("True", 0, 600_000)


@pytest.mark.spec("KUB-41")
def test_a_healthy_node_need_not_write() -> None:
    """It writes its Lease and its status once; the only timer is that of the pulse."""
    played = beating("on_change", until_s=620)
    assert [now_ms for now_ms, _ in writes(played, "leases", "n1")] == [0]
    assert [now_ms for now_ms, _ in writes(played, "nodes", "n1")] == [0, 0]
    assert is_implied(writes(played, "leases", "n1")[-1][1])
    assert played.verdict.turns < 120


@pytest.mark.spec("KUB-41", "KUB-42", "KUB-45")
@each_row("fault", [f"crash: {KUBELET}\n    restart: 35s", f"partition: {KUBELET}\n    for: 35s"])
def test_a_silent_kubelet_is_noticed_without_its_writes(fault: str) -> None:
    """Its Lease lapses at the next look, and is implied again once it is back."""
    played = beating("on_change", race=f"faults:\n  - {fault}\n    at: 12s\n")
    found = [(now_ms, is_implied(lease)) for now_ms, lease in writes(played, "leases", "n1")]
    assert found[0] == (0, True)
    assert found[1] == (20_000, False)
    assert found[2][1]
    assert [now_ms for now_ms, _ in writes(played, "leases", "n2")] == [0]
