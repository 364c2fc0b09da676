"""two_gigabytes_inverse: who uses more than it requests is evicted, however important it is."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("KUB-32", "KUB-37")
def test_the_most_important_pod_is_evicted() -> None:
    """H is placed at once, as be requests nothing; be goes, within its grace."""
    wrong, seen = calm_story("two_gigabytes_inverse")
    assert wrong == ""
    assert seen[1:] == [
        "1 create h", "1 bind h n1", "1 phase h Running", "60 phase be Failed Evicted"
    ]  # fmt: skip


@pytest.mark.spec("KUB-32")
def test_by_the_ranking_of_the_design_h_goes() -> None:
    """By priority first; which breaks the claim."""
    wrong, _ = calm_story("two_gigabytes_inverse", {"kubelet.evict_rank": "seed_pct"})
    assert wrong == "pods/default/be is Running, pods/default/h is Evicted"
