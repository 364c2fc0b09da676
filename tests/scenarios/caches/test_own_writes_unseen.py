"""own_writes_unseen: without expectations pods are created twice, with them never."""

from __future__ import annotations

import pytest

from testbed.choosers.uniform import Uniform
from testbed.errors import ScenarioError
from testbed.faults.lose_reply import LoseReply
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = "own_writes_unseen"


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
