"""never_preempts: the policy Never takes preemption away, and not the place in the queue."""

from __future__ import annotations

import pytest

from scenarios.preemption import never_preempts
from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("SCH-8", "SCH-71")
def test_the_job_ends_and_polite_goes_first() -> None:
    """Nothing happens until the job is done."""
    wrong, seen = calm_story("never_preempts")
    assert wrong == ""
    assert seen[1:] == ["10 phase job Succeeded", "10 bind polite n1", "10 phase polite Running"]


def test_in_a_line_for_all_early_goes_first() -> None:
    """As priority means nothing in the FIFO queue."""
    _, seen = calm_story("never_preempts", {"scheduler.queue": "fifo", "limit.until_ms": "60s"})
    assert [each for each in seen if "bind" in each] == ["15 bind early n1"]


@pytest.mark.spec("SCH-71")
def test_with_the_usual_policy_the_job_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which breaks the claim."""
    monkeypatch.setattr(never_preempts, "POLICY", "PreemptLowerPriority")
    wrong, _ = calm_story("never_preempts")
    assert wrong == "pods/default/job is deleted for pods/default/polite"
