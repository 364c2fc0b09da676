"""The races of an autoscaler: each is told by a race file, and its guard holds in the same race."""

from __future__ import annotations

import pytest

from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find

RACES = {
    "scale_up_suppressed": """
holds:
  - hold: default-scheduler patch pods/default/urgent
    until: autoscaler groups nodegroups
""",
    "suppressed_for_ever": """
picks:
  - technician when the node goes: 20000
""",
    "two_autoscalers": """
holds:
  - hold: autoscaler-b increase nodegroups/g
    until: autoscaler-a increase nodegroups/g
""",
    "expendable_starves": "",
}
SAID = {
    "scale_up_suppressed": "g wants 2 nodes",
    "suppressed_for_ever": "default/urgent gets no node, since it waits for n1, which is gone",
    "two_autoscalers": "g wants 3 nodes for one pod that waits",
    "expendable_starves": "default/polite gets no node, since it is to fit on g-1, which is full",
}


@pytest.mark.spec("CA-9", "CA-10", "CA-12", "CA-35")
@pytest.mark.parametrize("name", RACES)
def test_a_race_breaks_and_its_guard_holds(name: str) -> None:
    """Unguarded it breaks as it is told; guarded, the same holds and picks break nothing."""
    race = parse(f"scenario: {name}\n{RACES[name]}", "race")
    (violation,) = play(race, find(name), switches={"guard": "off"}).verdict.violations
    assert violation.said == SAID[name]
    assert not play(race, find(name), switches={"guard": "on"}).verdict.violations
