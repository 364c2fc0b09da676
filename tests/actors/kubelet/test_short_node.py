"""The claims about evictions hold on a node that runs short, whatever else happens to it."""

from __future__ import annotations

import pytest
from nodes import KUBELET, RUNTIME

from actors.kubelet.proving_grounds.short_node import short_node
from testbed.choosers.calm import Calm
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.testing.seek import choosers
from testbed.turns.trace import Trace
from testbed.world.scenario import of, play_runs
from testbed.world.world import World


def node(world: World) -> None:
    """The proving ground of eviction, where its kubelet and its runtime may fail."""
    short_node(world)
    world.allow(
        Crash(KUBELET, restart_after_ms=3000), Crash(RUNTIME, restart_after_ms=4000),
        Partition(KUBELET, for_ms=30_000), LoseReply(KUBELET),
    )  # fmt: skip


def breaches(runs_max: int, seed: int) -> list[str]:
    """What breaks in so many Runs."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        if world.verdict.violations:
            found.append(str(world.verdict))
        return not found

    left = runs_max
    one_deviation, *walks = choosers(left, seed)
    for chooser, most in (*walks, one_deviation):
        runs = min(most, left)
        left -= play_runs(of(node), chooser, look, runs_max=runs, driver="direct")
    return found


@pytest.mark.spec("INV-28", "INV-29")
def test_the_calm_run_evicts_one_by_one() -> None:
    """The soft threshold is met for its grace; later it is met again, for another pod."""
    world = of(node).world()
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    evicted = [each.facts["pod"] for each in world.table.records if each.name == "evicting"]
    assert evicted == ["pods/default/growing", "pods/default/late"]


@pytest.mark.spec("INV-28", "INV-29", "KUB-44")
def test_what_is_claimed_of_evictions_holds() -> None:
    """Usages are drawn; the kubelet crashes, is cut off, and cannot reach its runtime."""
    assert breaches(24, 1) == []


@pytest.mark.long
@pytest.mark.spec("INV-28", "INV-29", "KUB-44")
def test_what_is_claimed_of_evictions_holds_in_four_thousand_runs() -> None:
    """The same, for longer."""
    assert breaches(4000, 2) == []
