"""scale_down_race: a pod loses its node, which was empty just now; and for how long it may."""

from __future__ import annotations

import pytest

from scenarios.autoscaling.scale_down_race import idle_node
from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

PASS_MS, WAIT_MS = 20_000, 5_000
"""When the autoscaler chooses the node, and how long it waits before it looks again."""
APART_MS_MAX = 8_192
PODS, NODES, BINDS = "autoscaler watch pods", "default-scheduler watch nodes", "* bind pods"
STATUS = "* patch/status pods"


def outcomes(
    guard: str, runs: int, chooser: Bounded | Uniform, nominated: str = "off"
) -> list[str]:
    """What that many Runs come to."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.append(world.verdict.outcome)
        return True

    switches = {"guard": guard, "nominated": nominated}
    recipe = find("scale_down_race")
    play_runs(recipe, chooser, look, runs_max=runs, switches=switches, driver="direct")
    return found


def loses(
    after_ms: int,
    what: str,
    lag_ms: int,
    wait_ms: int = 0,
    *,
    nominated: bool = False,
    guard: bool = False,
) -> bool:
    """Whether a pod that comes that long after the pass loses its node, if something is that
    late."""
    world, comes_ms = World("window"), PASS_MS + after_ms
    idle_node(world, delay_ms=wait_ms, comes_ms=comes_ms, nominated=nominated, guard=guard)
    actor, _, named = what.partition(" ")
    if what in (BINDS, STATUS):
        world.latency(named, actor=actor, serve_ms=lag_ms)
    else:
        world.latency(named, actor=actor, deliver_ms=lag_ms)
    world.limit(virtual_ms_max=PASS_MS + 2 * APART_MS_MAX)
    return bool(world.run(Calm(), driver="direct").violations)


def window_ms(lag_ms: int, wait_ms: int, *, nominated: bool = False) -> int:
    """How long after the last look a pod must come to keep its node, by bisection. The last look is
    at the end of the wait; for a pod that is nominated, it is the pass itself."""
    look_ms = 0 if nominated else wait_ms
    low, high = 0, APART_MS_MAX

    def is_lost(after_ms: int) -> bool:
        return loses(look_ms + after_ms, NODES, lag_ms, wait_ms, nominated=nominated)

    assert not is_lost(high)
    if not is_lost(1):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if is_lost(middle):
            low = middle
        else:
            high = middle
    return high


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize("nominated", ["off", "on"])
def test_one_thing_that_is_late_is_enough(nominated: str) -> None:
    """The autoscaler hears of the pod too late, or the scheduler of the taint."""
    seen = outcomes("off", 20, Bounded(), nominated)
    assert seen[0] == "held"
    assert "violated" in seen


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize("nominated", ["off", "on"])
@pytest.mark.parametrize("chooser", [Bounded(), Uniform(1)], ids=["bounded", "uniform"])
def test_a_second_look_and_a_server_that_refuses_close_it(
    chooser: Bounded | Uniform, nominated: str
) -> None:
    """Whatever is late."""
    assert outcomes("on", 25, chooser, nominated) == ["held"] * 25


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize(
    ("after_ms", "what", "lag_ms", "nominated"),
    [
        (-1_000, PODS, 1_500, False), (-1_000, BINDS, 1_500, False), (500, NODES, 1_000, False),
        (-1_000, PODS, 1_500, True), (-1_000, STATUS, 1_500, True), (500, NODES, 1_000, True),
    ],
)  # fmt: skip
def test_the_guard_holds_against_each_way_to_be_late(
    after_ms: int, what: str, lag_ms: int, nominated: bool
) -> None:
    """What was written before the taint is seen, and what comes after it is refused."""
    assert loses(after_ms, what, lag_ms, nominated=nominated)
    assert not loses(after_ms, what, lag_ms, nominated=nominated, guard=True)


@pytest.mark.spec("CA-29")
@pytest.mark.parametrize(
    ("lag_ms", "wait_ms", "expected_ms"),
    [(371, 0, 371), (371, WAIT_MS, 0), (6_000, WAIT_MS, 1_000)],
)
def test_the_wait_only_moves_the_window(lag_ms: int, wait_ms: int, expected_ms: int) -> None:
    """What the scheduler hears late of the taint, less the wait, is left for a pod to die in."""
    assert window_ms(lag_ms, wait_ms) == expected_ms


@pytest.mark.spec("CA-29", "CA-33")
@pytest.mark.parametrize("wait_ms", [0, WAIT_MS])
def test_the_wait_does_nothing_for_a_nomination(wait_ms: int) -> None:
    """The second look is at pods that are on the node, so a pod that waits for its victim is not
    seen."""
    assert window_ms(371, wait_ms, nominated=True) == 371
