"""The messages that say why a pod is not scheduled."""

from __future__ import annotations

import pytest

from actors.scheduler.decisions.messages import fit_error
from tests.shared.deciding import a_node, a_pod, decide


@pytest.mark.spec("SCH-68")
def test_reasons_are_counted_and_sorted_as_text() -> None:
    """So 10 stands before 9."""
    reasons = {"Insufficient cpu": 9, "Too many pods": 10}
    said = "0/19 nodes are available: 10 Too many pods, 9 Insufficient cpu."
    assert fit_error(19, reasons) == said
    assert fit_error(2, {}) == "0/2 nodes are available:"


@pytest.mark.spec("SCH-68")
def test_what_preemption_says_keeps_its_own_full_stop() -> None:
    """So a message may end in two."""
    assert decide(a_pod("p", 11, priority=5), a_node("n1")).message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod.."
    )
