"""The messages that say why a pod is not scheduled."""

from __future__ import annotations

import pytest

from tests.shared.deciding import a_node, a_pod, decide


@pytest.mark.spec("SCH-68")
def test_what_preemption_says_keeps_its_own_full_stop() -> None:
    """So a message may end in two."""
    assert decide(a_pod("p", 11, priority=5), a_node("n1")).message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod.."
    )
