"""The claims about evictions hold on a node that runs short, whatever else happens to it."""

from __future__ import annotations

import pytest

from actors.kubelet.proving_grounds.short_node import short_node
from testbed.choosers.calm import Calm
from testbed.turns.trace import Trace
from tests.shared.nodes import breaches, failing

GROUND = failing(short_node)


@pytest.mark.spec("INV-28", "INV-29")
def test_the_calm_run_evicts_one_by_one() -> None:
    """The soft threshold is met for its grace; later it is met again, for another pod."""
    world = GROUND.world()
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    evicted = [each.facts["pod"] for each in world.table.records if each.name == "evicting"]
    assert evicted == ["pods/default/growing", "pods/default/late"]


@pytest.mark.spec("INV-28", "INV-29", "KUB-44")
def test_what_is_claimed_of_evictions_holds() -> None:
    """Usages are drawn; the kubelet crashes, is cut off, and cannot reach its runtime."""
    assert breaches(GROUND, 24, 1) == []


@pytest.mark.long
@pytest.mark.spec("INV-28", "INV-29", "KUB-44")
def test_what_is_claimed_of_evictions_holds_in_four_thousand_runs() -> None:
    """The same, for longer."""
    assert breaches(GROUND, 4000, 2) == []
