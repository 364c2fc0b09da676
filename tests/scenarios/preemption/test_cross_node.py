"""cross_node: a pod in the way on another node stays, whoever waits."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("SCH-107")
def test_q_stays_on_the_other_node() -> None:
    """P is created, and nothing else happens."""
    assert calm_story("cross_node") == ("", ["1 create p"])


@pytest.mark.spec("SCH-106")
def test_without_q_p_would_fit() -> None:
    """An experiment looks for victims on other nodes as well; which breaks the claim."""
    wrong, seen = calm_story("cross_node", {"scheduler.cross_node_victims": "1"})
    assert wrong == "pods/default/q has gone from n2"
    assert seen[1:] == ["1 delete q until 1", "1 remove q", "1 nominate p n1", "2 bind p n1"]
