"""scale_down_race: a pod dies with a node that was empty just now; and how long that is true."""

from __future__ import annotations

import pytest

from scenarios.autoscaler.scale_down_race import idle_node
from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

PASS_MS, WAIT_MS = 20_000, 5_000
"""When the autoscaler chooses the node, and how long it waits before it looks again."""
APART_MS_MAX = 8_192
PODS, NODES, BINDS = "autoscaler watch pods", "default-scheduler watch nodes", "* bind pods"


def outcomes(guard: str, runs: int, chooser: Bounded | Uniform) -> list[str]:
    """What that many Runs come to."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.append(world.verdict.outcome)
        return True

    switches = {"guard": guard}
    recipe = find("scale_down_race")
    play_runs(recipe, chooser, look, runs_max=runs, switches=switches, driver="direct")
    return found


def dies(after_ms: int, what: str, lag_ms: int, wait_ms: int = 0, *, guard: bool = False) -> bool:
    """Whether a pod dies that comes so long after that pass, if something takes so long."""
    world = World("window")
    idle_node(world, delay_ms=wait_ms, comes_ms=PASS_MS + after_ms, guard=guard)
    actor, _, named = what.partition(" ")
    if what == BINDS:
        world.latency(named, actor=actor, serve_ms=lag_ms)
    else:
        world.latency(named, actor=actor, deliver_ms=lag_ms)
    world.limit(virtual_ms_max=PASS_MS + 2 * APART_MS_MAX)
    return bool(world.run(Calm(), driver="direct").violations)


def window_ms(lag_ms: int, wait_ms: int) -> int:
    """How long after the last look at the node's pods a pod must come to live, by bisection."""
    low, high = 0, APART_MS_MAX
    assert not dies(wait_ms + high, NODES, lag_ms, wait_ms)
    if not dies(wait_ms + 1, NODES, lag_ms, wait_ms):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if dies(wait_ms + middle, NODES, lag_ms, wait_ms):
            low = middle
        else:
            high = middle
    return high


@pytest.mark.spec("CA-29")
def test_one_thing_that_is_late_is_enough() -> None:
    """The autoscaler hears of the pod too late, or the scheduler of the taint."""
    seen = outcomes("off", 20, Bounded())
    assert seen[0] == "held"
    assert "violated" in seen


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize("chooser", [Bounded(), Uniform(1)], ids=["bounded", "uniform"])
def test_a_second_look_and_a_server_that_refuses_close_it(chooser: Bounded | Uniform) -> None:
    """Whatever is late."""
    assert outcomes("on", 25, chooser) == ["held"] * 25


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize(
    ("after_ms", "what", "lag_ms"),
    [(-1_000, PODS, 1_500), (-1_000, BINDS, 1_500), (500, NODES, 1_000)],
)
def test_the_guard_holds_against_each_way_to_be_late(after_ms: int, what: str, lag_ms: int) -> None:
    """What was bound before the taint is seen, and what comes after it is refused."""
    assert dies(after_ms, what, lag_ms)
    assert not dies(after_ms, what, lag_ms, guard=True)


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize(
    ("lag_ms", "wait_ms", "expected_ms"),
    [(371, 0, 371), (371, WAIT_MS, 0), (6_000, WAIT_MS, 1_000)],
)
def test_the_wait_only_moves_the_window(lag_ms: int, wait_ms: int, expected_ms: int) -> None:
    """What the scheduler hears late of the taint, less the wait, is left for a pod to die in."""
    assert window_ms(lag_ms, wait_ms) == expected_ms
