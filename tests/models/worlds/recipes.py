"""The scenarios that come with the testbed, for what is tested with every one of them."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.world.scenario import known

QUICK = (
    "crash_and_resync", "double_bind", "grace_gap", "hostile_schedulers", "late_bind",
    "late_short_write", "leader_overlap", "lost_update", "own_writes_unseen", "starvation",
    "stolen_slot", "time_travel", "tug_of_war", "twice_created", "two_defaults",
)  # fmt: skip
"""Small ones, in whose Runs there is all that there is in those of any other: every kind of turn,
fault and line of a race."""
BUSY = tuple(each.name for each in known() if each.name not in QUICK)
"""The others: what costs many Runs of each scenario is `long` for these."""


def recipes() -> list[Any]:
    """All scenarios, to be parametrized by; the busy ones are `long`."""
    return [
        pytest.param(each, id=each.name, marks=[pytest.mark.long] if each.name in BUSY else [])
        for each in known()
    ]
