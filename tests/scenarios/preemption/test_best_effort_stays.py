"""best_effort_stays: a pod without requests is not preempted, as that would free nothing."""

from __future__ import annotations

import pytest

from testbed import policy
from tests.models.clusters.calm_story import calm_story
from tests.models.clusters.takes_all import TakesAll


@pytest.mark.spec("SCH-89", "SCH-90")
def test_the_more_important_one_goes() -> None:
    """By whatever order of importance, as only that one has requests."""
    for how in ("priority", "qos"):
        wrong, seen = calm_story("best_effort_stays", {"scheduler.victim_primary": how})
        assert wrong == ""
        assert seen[1:3] == ["1 delete web until 1", "1 remove web"]


def test_the_claim_says_who_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """If scraper goes as well."""
    monkeypatch.setattr(policy, "_OWN", {})
    policy.use(TakesAll)
    wrong, _ = calm_story("best_effort_stays", {"scheduler.victims": "TakesAll"})
    assert wrong == "on n1 is pods/default/urgent"
