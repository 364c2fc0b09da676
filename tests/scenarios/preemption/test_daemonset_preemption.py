"""daemonset_preemption: what YuniKorn has made free, another scheduler gives away."""

from __future__ import annotations

import pytest

from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.testing.seek import choosers
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = find("daemonset_preemption")
RACE = """
scenario: daemonset_preemption
holds:
  - hold: yunikorn bind pods/default/agent-49dvg
    until: default-scheduler bind pods/default/late
"""
"""YuniKorn has decided, and its bind is late."""


def played(**switches: str) -> Played:
    """That race."""
    return play(parse(RACE, "race"), RECIPE, switches=switches)


@pytest.mark.spec("YK-31", "YK-36")
@pytest.mark.parametrize("profile", ["seed", "k8s-1.26", "k8s-modern"])
def test_the_room_of_a_victim_goes_to_another_scheduler(profile: str) -> None:
    """In every version: nothing but the core knows that the node is reserved."""
    (violation,) = played(**{"yunikorn.profile": profile}).verdict.violations
    died = "pods/default/batch died for pods/default/agent-49dvg"
    assert violation.said == f"{died}, and pods/default/late is there now"


@pytest.mark.spec("YK-8")
def test_one_scheduler_keeps_the_room_for_the_daemon_pod() -> None:
    """In that race."""
    assert played(guard="on").verdict.is_held


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_search_finds_the_race_at_once(seed: int) -> None:
    """The Runs of one deviation do, whatever the seed."""
    numbers: list[int] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        numbers.append(world.verdict.turns)
        return not world.verdict.is_violated

    one_deviation, *_ = choosers(3000, seed)
    play_runs(RECIPE, one_deviation[0], look, runs_max=200, driver="direct")
    assert len(numbers) < 200
