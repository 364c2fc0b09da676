"""The memory of a kubelet, by the World's time: what no_lasso compares."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.kubelet import Workload
from actors.kubelet.back_off import STABLE_MS
from testbed.world.world import World
from tests.shared.nodes import KUBELET, at, bound, calm, delete, node_world


def memory(world: World) -> Any:
    """What the kubelet shows of itself."""
    life = world.table.roles[KUBELET].life
    assert life is not None
    return life.shown["kubelet"]


def test_a_kubelet_that_rests_is_the_same_at_each_check() -> None:
    """Every ten seconds, as often as it compares statuses; in between it is not."""
    world = node_world(bound("a"))
    calm(world)
    own = memory(world)
    assert own.digest(20_000) == own.digest(30_000)
    assert own.digest(20_000) != own.digest(23_000)


def test_what_is_gone_leaves_nothing() -> None:
    """After the last of its pods a kubelet remembers what it did before the first."""
    empty, used = node_world(), node_world(bound("a"), user=at((1000, partial(delete, name="a"))))
    for world in (empty, used):
        calm(world)
    assert memory(used).digest(60_000) == memory(empty).digest(60_000)


def test_a_restart_is_remembered_as_long_as_it_matters() -> None:
    """By how long ago it was, until the back-off begins anew."""
    work = Workload(runs_ms=(1000, None), exit_code=1)
    world = node_world(work.given_to(bound("a")))
    calm(world)
    own = memory(world)
    assert own.digest(20_000) != own.digest(30_000)
    assert own.digest(STABLE_MS + 10_000) == own.digest(STABLE_MS + 20_000)
