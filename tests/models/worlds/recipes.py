"""The scenarios that come with the testbed, for what is tested with every one of them."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.world.scenario import known

BUSY = (
    "add_remove_loop", "daemonset_preemption", "descheduler_pingpong", "expendable_starves",
    "given_away", "out_of_cpu", "partitioned_node", "pdb_overspent", "phantom_upcoming",
    "pressure_pingpong", "restart_readmission", "rollout_and_preemption", "scale_down_race",
    "scale_up_suppressed", "suppressed_for_ever", "two_autoscalers", "web_server", "who_preempts",
)  # fmt: skip
"""They have many real actors, and nothing in their Runs that no other scenario has: what costs many
Runs of each scenario is `long` for these."""


def recipes() -> list[Any]:
    """All scenarios, to be parametrized by; the busy ones are `long`."""
    return [
        pytest.param(each, id=each.name, marks=[pytest.mark.long] if each.name in BUSY else [])
        for each in known()
    ]
