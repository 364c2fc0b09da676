"""preemption_off: without preemption a critical pod waits for the least important one."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("PRI-19")
def test_dns_waits() -> None:
    """It is created, and nothing else happens."""
    assert calm_story("preemption_off") == ("", ["1 create dns"])


def test_with_preemption_batch_goes() -> None:
    """Which breaks the claim."""
    wrong, seen = calm_story("preemption_off", {"scheduler.disable_preemption": "off"})
    assert wrong == "on n1 is pods/default/dns"
    assert seen[1:3] == ["1 delete batch until 1", "1 remove batch"]
