"""scaled_up_and_down: expectations keep the controller from acting twice, and from nothing else."""

from __future__ import annotations

import pytest

from actors.controllers.deleting_mutants import with_loop
from actors.controllers.mutants import DeletesNothing
from actors.controllers.replicaset import ReplicaSetController
from scenarios.controllers import scaled_up_and_down
from testbed.choosers.calm import Calm
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find

RECIPE = find("scaled_up_and_down")
LATE = """
scenario: scaled_up_and_down
holds:
  - hold: delivery of pods/default/web-4xtqz to replicasets
    until: replicasets create pods/default#2
"""


@pytest.mark.spec("CTL-2", "CTL-3")
def test_it_does_what_the_user_wants_and_no_more() -> None:
    """One pod, two more, two less, one more."""
    world = RECIPE.world()
    assert world.run(Calm(), driver="direct").is_held
    sizes: list[tuple[int, int]] = []
    alive = 0
    for change in world.store.log("pods").changes:
        grown = (change.old is None) - (change.new is None)
        if grown:
            alive += grown
            sizes.append((change.revision, alive))
    assert [size for _, size in sizes] == [1, 2, 3, 2, 1, 2]


@pytest.mark.spec("CTL-2")
def test_without_expectations_there_is_one_too_many() -> None:
    """It counts before its watch has shown what it has created; with them the same race is none."""
    race = parse(LATE, "late")
    assert play(race, RECIPE).verdict.is_held
    played = play(race, RECIPE, switches={"controllers.expectations": "off"})
    assert [each.invariant for each in played.verdict.violations] == ["pods_are_created_once"]


@pytest.mark.spec("INV-31")
def test_a_controller_that_deletes_nothing_breaks_the_other_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There are never more than three pods, and in the end one too many."""
    mutant = with_loop(ReplicaSetController, DeletesNothing)
    monkeypatch.setattr(scaled_up_and_down, "ReplicaSetController", mutant)
    verdict = RECIPE.world().run(Calm(), driver="direct")
    said = [(each.invariant, each.said) for each in verdict.violations]
    assert said == [
        ("desired_counts_are_reached", "replicasets/default/web wants 2 pods and has 3")
    ]
