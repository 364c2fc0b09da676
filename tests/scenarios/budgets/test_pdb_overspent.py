"""pdb_overspent: a preemption asks no budget; one that goes by the eviction API is refused."""

from __future__ import annotations

import pytest

from testbed.choosers.bounded import Bounded
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = "pdb_overspent"


def violated(guard: str, chooser: Bounded | Uniform, runs: int) -> list[str]:
    """What that many Runs show."""
    seen: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        assert world.verdict.outcome != "undecided", str(world.verdict)
        seen.extend(violation.said for violation in world.verdict.violations)
        return True

    given = {"guard": guard}
    play_runs(find(RECIPE), chooser, look, runs_max=runs, switches=given, driver="direct")
    return seen


@pytest.mark.spec("CTL-26", "API-38")
def test_a_preemption_and_a_drain_take_the_same_disruption() -> None:
    """Either may come first: the budget says that one more may go until its controller has counted
    again and the other has heard of that."""
    seen = violated("off", Uniform(0), 12)
    assert seen
    assert all(said.startswith("web wants 2 healthy pods, and only web-") for said in seen)


@pytest.mark.spec("API-36", "API-37")
def test_who_evicts_second_is_refused() -> None:
    """Whatever is late, if all ask the budget itself and none what it has heard of it."""
    assert violated("on", Bounded(), 40) == []
