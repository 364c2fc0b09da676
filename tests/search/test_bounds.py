"""Bounds: the bounded search, whose plans and their children travel as data."""

from __future__ import annotations

from testbed.choosers.bounded import Bounded
from testbed.objects.codec import decode, encode
from testbed.search.bounds import Bounds
from testbed.search.planned_run import Outcome, PlannedRun, SearchTask
from testbed.search.player import Player
from testbed.world.scenario import find, play_runs
from testbed.world.world import World


def test_plans_that_travel_make_the_same_runs() -> None:
    """As many Runs, as many of them violated, and the same level, as when it plays by itself."""
    player, bounds = Player(SearchTask("lost_update")), Bounds(faults_max=0, deviations_max=1)
    outcomes: list[Outcome] = []
    while plans := bounds.next(7):
        batch = [PlannedRun(len(outcomes) + n, "bounded", plan) for n, plan in enumerate(plans)]
        played = [
            Outcome.parse(player.play(PlannedRun.of(decode(encode(j.as_dict())))).line())
            for j in batch
        ]
        bounds.learn(played)
        outcomes += played
    alone = Bounded(faults_max=0, deviations_max=1)
    violated = 0

    def look(world: World) -> bool:
        nonlocal violated
        assert world.verdict is not None
        violated += world.verdict.is_violated
        return True

    runs = play_runs(find("lost_update"), alone, look, runs_max=1000, driver="direct")
    assert (len(outcomes), sum(o.is_violated for o in outcomes)) == (runs, violated)
    assert violated
    assert bounds.level == "complete up to 1 deviation, 0 faults"


def child(place: int, faults: int, deviations: int) -> list[object]:
    """A plan that goes on from the calm one."""
    return [[[place, "hold", 0]], faults, deviations, False]


def told(bounds: Bounds, children: list[list[object]] | None) -> None:
    """One plan is played."""
    (_,) = bounds.next(1)
    bounds.learn([Outcome(0, "bounded", "held", "quiet", children=children)])


def test_the_level_says_what_is_complete() -> None:
    """Also when the last one allows fewer deviations than one before."""
    bounds = Bounds(faults_max=1, deviations_max=1)
    assert bounds.level == "not yet complete at any level"
    told(bounds, [child(1, 0, 1), child(2, 1, 0)])
    assert bounds.level == "complete up to 0 deviations, 0 faults"
    told(bounds, [child(3, 1, 1)])
    assert bounds.level == "complete up to 0 deviations, 1 fault"
    told(bounds, [])
    assert bounds.level == "complete up to 1 deviation, 0 faults, and 0 deviations, 1 fault"


def test_a_plan_that_was_lost_completes_no_level() -> None:
    """Its worker died with it, and what goes on from it will never be known."""
    bounds = Bounds(faults_max=0, deviations_max=2)
    told(bounds, [child(1, 0, 1), child(2, 0, 1)])
    told(bounds, None)
    told(bounds, [])
    assert bounds.next(1) == []
    assert not bounds.is_complete
    assert bounds.level == "complete up to 0 deviations, 0 faults"
