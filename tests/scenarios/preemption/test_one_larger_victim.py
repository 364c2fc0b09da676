"""one_larger_victim: who can stay is tried from the top, so the least important ones may stay."""

from __future__ import annotations

import pytest

from testbed import policy
from tests.models.clusters.calm_story import calm_story
from tests.models.clusters.takes_all import TakesAll


@pytest.mark.spec("SCH-85", "SCH-86")
def test_p2_goes_and_p0_and_p1_stay() -> None:
    """Also if as few as can be are to go."""
    for how in ("greedy", "min_count"):
        wrong, seen = calm_story("one_larger_victim", {"scheduler.victim_minimisation": how})
        assert wrong == ""
        assert seen[1:] == [
            "1 delete p2 until 1", "1 remove p2", "1 nominate new n1", "2 bind new n1"
        ]  # fmt: skip


def test_the_claim_names_who_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """If all less important pods go, the new one is alone."""
    monkeypatch.setattr(policy, "_OWN", {})
    policy.use(TakesAll)
    wrong, _ = calm_story("one_larger_victim", {"scheduler.victims": "TakesAll"})
    assert wrong == "on n1 are pods/default/new"
