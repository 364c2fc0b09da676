"""two_gigabytes: whom the scheduler spares, the kubelet evicts."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("SCH-89", "KUB-32")
@pytest.mark.parametrize("rank", ["shipped", "seed_pct"])
def test_bu_is_preempted_and_be_evicted(rank: str) -> None:
    """Half a minute after H was bound, by either ranking; be has its grace of 30 s, as in 1.26."""
    wrong, seen = calm_story("two_gigabytes", {"kubelet.evict_rank": rank})
    assert wrong == ""
    assert seen[2:] == [
        "1 create h", "1 delete bu until 31", "1 nominate h n1",
        "31 remove bu", "31 bind h n1", "31 phase h Running", "90 phase be Failed Evicted",
    ]  # fmt: skip


def test_without_preemption_both_stay() -> None:
    """Which breaks the claim."""
    wrong, _ = calm_story("two_gigabytes", {"scheduler.disable_preemption": "on"})
    assert wrong == (
        "pods/default/be is Running, pods/default/bu is Running, pods/default/h is Pending"
    )
