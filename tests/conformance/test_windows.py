"""How wide the windows are in which two schedulers bind what only one may."""

from __future__ import annotations

import pytest

from testbed.world.world import World
from tests.conformance.windows import BIND_MS, WATCH_MS, bound, slow, window_ms
from tests.each_row import each_row


@pytest.mark.spec("SCH-109", "SCH-110")
def test_two_schedulers_bind_two_pods_to_one_slot_in_one_instant() -> None:
    """With one hold, both bind; in the calm run the second sees the first in time."""
    hold = "holds:\n  - hold: s2 bind pods/default/p2\n    until: s1 bind pods/default/p1\n"
    assert bound(hold) == ["p1", "p2"]
    assert bound("") == ["p2"]


@pytest.mark.spec("SCH-110")
@each_row(
    ("bind_ms", "watch_ms", "low", "high"), [(BIND_MS, WATCH_MS, 3, 5), (BIND_MS, 30, 20, 50)]
)
def test_the_window_is_one_bind_and_one_watch_long(
    bind_ms: int, watch_ms: int, low: int, high: int
) -> None:
    """And so within what was recorded."""
    assert window_ms(bind_ms, watch_ms) == bind_ms + watch_ms
    assert low <= bind_ms + watch_ms <= high


@pytest.mark.spec("SCH-110")
def test_what_shares_a_cache_does_not_race() -> None:
    """Two pods of one scheduler, however slow its binds and its watch are."""
    assert len(bound(slow(BIND_MS, 30, "s1"), owners=("s1", "s1"))) == 1


@pytest.mark.spec("SCH-110")
@each_row(("bind_ms", "watch_ms"), [(BIND_MS, WATCH_MS), (BIND_MS, 30), (35, 40)])
def test_latencies_that_are_stated_make_the_same_windows(bind_ms: int, watch_ms: int) -> None:
    """As the holds and lags of a race file do: to the millisecond on both sides of each end."""

    def state(world: World) -> None:
        world.latency("bind pods", serve_ms=bind_ms)
        world.latency("watch pods", actor="s[12]", deliver_ms=watch_ms)

    race = slow(bind_ms, watch_ms, "s1", "s2")
    for apart_ms in {0, 1, bind_ms, watch_ms, bind_ms + watch_ms, bind_ms + watch_ms + 1}:
        for near_ms in (apart_ms - 1, apart_ms, apart_ms + 1):
            if near_ms >= 0:
                assert bound("", near_ms, state=state) == bound(race, near_ms), near_ms
    assert len(bound("", bind_ms + watch_ms - 1, state=state)) == 2
    assert len(bound("", bind_ms + watch_ms + 1, state=state)) == 1
