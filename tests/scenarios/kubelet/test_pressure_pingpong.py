"""pressure_pingpong: what a kubelet evicts comes back for ever, or does not."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.story.cause import CauseShape
from testbed.turns.trace import Trace
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.models.truths import cause_in

RECIPE = find("pressure_pingpong")
AVOIDS = {
    "scheduler.avoid_node_after_eviction_ms": "600000", "scheduler.avoid_how": "exclude",
}  # fmt: skip


@pytest.mark.spec("KUB-32")
def test_a_kubelet_that_ranks_by_priority_evicts_the_same_workload_for_ever() -> None:
    """It is proved: three evictions are a lap, since the scheduler's queue ticks that often."""
    verdict = RECIPE.world().run(Calm(), driver="direct")
    (violation,) = verdict.violations
    assert violation.invariant == "no_lasso"
    assert "kubelet-n1 sets one of pods status.phase Running → Failed" in violation.said
    assert "status.reason nothing → Evicted" in violation.said
    assert "a lap of 18 writes in 30,000 ms, played 3 more times" in violation.said


def test_the_story_names_who_evicts_and_not_who_sweeps() -> None:
    """A pod that is evicted is over; that pod-gc removes it later undoes nothing."""
    trace = Trace({}, keep=True)
    verdict = RECIPE.world().run(Calm(), driver="direct", trace=trace)
    cause = cause_in(trace, verdict.violations[0])
    assert (cause.shape, cause.actor) == (CauseShape.DISAGREE, "kubelet-n1")
    assert cause.text.startswith(
        "kubelet-n1 ends pods that default-scheduler binds to n1, and whole"
    )
    assert 'kubelet-n1 set status.reason of pods/default/whole-0 to "Evicted"' in cause.text


@pytest.mark.spec("SCH-108")
def test_a_scheduler_that_avoids_the_node_ends_it() -> None:
    """The pod that was evicted waits, though its kubelet still ranks by priority."""
    assert outcomes(AVOIDS, 6) == {"held"}


@pytest.mark.long
@pytest.mark.parametrize("switches", [{"guard": "on"}, AVOIDS], ids=["shipped", "avoids"])
def test_it_ends_in_two_thousand_runs(switches: dict[str, str]) -> None:
    """The same, for longer."""
    assert outcomes(switches, 2000) == {"held"}


def outcomes(switches: dict[str, str], runs_max: int) -> set[str]:
    """What random Runs come to."""
    found: set[str] = set()

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.add(str(world.verdict) if world.verdict.violations else world.verdict.outcome)
        return True

    play_runs(RECIPE, Uniform(2), look, runs_max=runs_max, switches=switches, driver="direct")
    return found
