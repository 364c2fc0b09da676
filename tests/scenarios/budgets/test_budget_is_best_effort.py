"""budget_is_best_effort: preemption breaks a budget if nothing else helps."""

from __future__ import annotations

import pytest

from testbed import World
from testbed.world.scenario import find
from tests.models.clusters.calm_story import calm_story, story_of


@pytest.mark.spec("SCH-95")
def test_the_less_important_pod_goes_against_its_budget() -> None:
    """Both budgets allow nothing."""
    wrong, seen = calm_story("budget_is_best_effort")
    assert wrong == ""
    assert seen[1:] == [
        "1 delete x until 1", "1 remove x", "1 nominate urgent n1", "2 bind urgent n1"
    ]  # fmt: skip


@pytest.mark.spec("SCH-92")
def test_without_its_budget_the_more_important_pod_goes() -> None:
    """Whom a budget protects is spared if that is possible; which breaks the claim."""
    world: World = find("budget_is_best_effort").world(without=["poddisruptionbudgets/default/y"])
    wrong, seen = story_of(world)
    assert wrong == "pods/default/urgent is on n2, pods/default/x is on n1"
    assert seen[1] == "1 delete y until 1"


@pytest.mark.spec("SCH-95")
def test_if_budgets_were_rules_nobody_would_go() -> None:
    """And the urgent pod would wait."""
    wrong, seen = calm_story("budget_is_best_effort", {"scheduler.pdb_mode": "strict"})
    assert wrong.startswith("pods/default/urgent is on no node, ")
    assert seen == ["1 create urgent"]
