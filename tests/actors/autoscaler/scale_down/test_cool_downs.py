"""Cool-downs: after what nothing is deleted, and for how long."""

from __future__ import annotations

import pytest

from actors.autoscaler.scale_down.cool_downs import CoolDowns
from actors.autoscaler.settings import AutoscalerSettings


@pytest.mark.spec("CA-30", "CA-24")
def test_each_cool_down_has_its_time() -> None:
    """Ten minutes after a scale-up, three after a taint that failed, none after a deletion unless
    one is asked for; at the very end nodes may go again."""
    usual = CoolDowns(AutoscalerSettings(), 0)
    assert not usual.are_on(0)
    usual.added(0)
    assert usual.are_on(599_999)
    assert not usual.are_on(600_000)
    usual.failed(600_000)
    assert usual.are_on(779_999)
    assert not usual.are_on(780_000)
    usual.deleted(780_000)
    assert not usual.are_on(780_000)
    asked = CoolDowns(AutoscalerSettings(delay_after_delete_ms=120_000), 0)
    asked.deleted(0)
    assert asked.are_on(119_999)
    assert not asked.are_on(120_000)
