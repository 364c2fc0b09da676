"""out_of_cpu: what a kubelet rejects is created again, once or as fast as it can be."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = find("out_of_cpu")
RACE = """
scenario: out_of_cpu
holds:
  - hold: beta bind pods/default/batch
    until: alpha bind pods/default/web-4xtqz
"""
"""Each scheduler has decided before it hears of the other's pod."""


def played(**switches: str) -> Played:
    """That race."""
    return play(parse(RACE, "race"), RECIPE, switches=switches)


def of_web(world: World) -> list[tuple[int, str, str]]:
    """The pods of the workload: when each was created, its phase and its node."""
    pods = [entry.value for entry in world.store.snapshot("pods/")]
    found = [pod for pod in pods if pod.meta.labels.get("app") == "web"]  # type: ignore[attr-defined]
    return sorted((pod.meta.created_ms, pod.status.phase, pod.spec.node_name) for pod in found)  # type: ignore[attr-defined]


@pytest.mark.spec("KUB-3", "KUB-7", "SCH-109")
@pytest.mark.parametrize("back_off", ["off", "on"])
def test_two_schedulers_give_one_room_away_twice(back_off: str) -> None:
    """The kubelet rejects the pod that it hears of last, whatever its owner does about that."""
    (violation,) = played(back_off=back_off).verdict.violations
    assert violation.said.startswith("n1 rejects pods/default/")


@pytest.mark.spec("SCH-109")
def test_one_scheduler_does_not() -> None:
    """It counts what it has bound, heard of or not; and a controller that backs off changes nothing
    of that."""

    def look(world: World) -> bool:
        assert world.verdict is not None
        assert world.verdict.is_held, str(world.verdict)
        return True

    guarded = {"guard": "on", "back_off": "on"}
    play_runs(RECIPE, Uniform(1), look, runs_max=12, switches=guarded, driver="direct")


@pytest.mark.spec("KUB-1", "KUB-7", "CTL-3")
def test_what_the_scheduler_cannot_see_it_runs_into_again_and_again() -> None:
    """A static pod without a mirror pod: the workload is created again at once, and bound to the
    same place."""
    verdict = RECIPE.world({"static": "on"}).run(Calm(), driver="direct")
    (violation,) = verdict.violations
    assert violation.said == "6 pods of web were rejected by n1"
    assert violation.now_ms == 1000, "all of them in the instant in which the first was created"


@pytest.mark.spec("KUB-1", "KUB-7")
def test_a_controller_that_backs_off_waits_for_the_scheduler_to_see() -> None:
    """It tries later and later; the last pod is not bound, since there is no room for it."""
    world = RECIPE.world({"static": "on", "back_off": "on"})
    assert world.run(Calm(), driver="direct").is_held
    assert of_web(world) == [
        (1000, "Failed", "n1"), (11_000, "Failed", "n1"), (31_000, "Failed", "n1"),
        (71_000, "Pending", ""),
    ]  # fmt: skip
