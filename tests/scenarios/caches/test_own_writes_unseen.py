"""own_writes_unseen: without expectations pods are created twice, with them never."""

from __future__ import annotations

import pytest

from testbed.choosers.bounded import Bounded
from testbed.choosers.uniform import Uniform
from testbed.errors import ScenarioError
from testbed.faults.lose_reply import LoseReply
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = "own_writes_unseen"


def violated(guard: str, runs: int, replicas: str = "2") -> list[str]:
    """What that many Runs of the bounded search show, of few deviations first."""
    seen: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        seen.extend(violation.said for violation in world.verdict.violations)
        return True

    switches = {"guard": guard, "replicas": replicas}
    play_runs(find(RECIPE), Bounded(), look, runs_max=runs, switches=switches, driver="direct")
    return seen


@pytest.mark.spec("CTL-2")
def test_own_writes_that_are_not_seen_are_done_again() -> None:
    """One thing that is late is enough: the sync begins before the news has come."""
    assert any(said.startswith("web wants 2 pods and has 3") for said in violated("off", 60))


@pytest.mark.spec("CTL-2")
@pytest.mark.parametrize("replicas", ["1", "3"])
def test_expectations_keep_it_from_that(replicas: str) -> None:
    """Whatever is late."""
    assert violated("on", 150, replicas) == []


def test_a_lost_answer_undoes_the_guard() -> None:
    """A fault that is not allowed, as its page says: no news is expected of a pod whose create has
    failed, for all that the controller knows, and so another one is created in its place."""
    said: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        said.extend(violation.said for violation in world.verdict.violations)
        return not said

    lost = [LoseReply("controller")]
    play_runs(
        find(RECIPE), Uniform(1), look, runs_max=60, switches={"guard": "on"}, faults=lost,
        driver="direct",
    )  # fmt: skip
    assert said[0].startswith("web wants 2 pods and has 3")


def test_a_number_that_makes_no_sense_is_refused() -> None:
    """And the refusal says what to write."""
    with pytest.raises(ScenarioError, match="expected 1 to 20"):
        find(RECIPE).world({"replicas": "0"})
