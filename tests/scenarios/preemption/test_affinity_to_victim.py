"""affinity_to_victim: a pod that must be near a less important one makes no room."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("SCH-81")
def test_nobody_goes() -> None:
    """P is created, and nothing else happens."""
    assert calm_story("affinity_to_victim") == ("", ["1 create p"])


@pytest.mark.spec("SCH-105")
def test_x_alone_would_do() -> None:
    """An experiment tries to spare the pods first that P must be near; which breaks the claim."""
    wrong, seen = calm_story("affinity_to_victim", {"scheduler.affinity_to_victims": "1"})
    assert wrong == "on n1 are pods/default/p and pods/default/web"
    assert seen[1:] == ["1 delete x until 1", "1 remove x", "1 nominate p n1", "2 bind p n1"]
