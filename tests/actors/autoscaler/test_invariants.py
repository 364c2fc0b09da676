"""The claims about the nodes that an autoscaler deletes."""

from __future__ import annotations

import pytest

from actors.autoscaler.mutants import MUTANTS
from actors.autoscaler.proving_ground import departing_nodes
from testbed.choosers.calm import Calm
from testbed.testing.mutant import Mutant, hunt
from testbed.testing.seek import choosers
from testbed.world.scenario import of, play_runs
from testbed.world.world import World


@pytest.mark.spec("INV-37")
@pytest.mark.parametrize("runs_max", [6, pytest.param(2000, marks=pytest.mark.long)])
def test_nodes_go_empty_and_in_time(runs_max: int) -> None:
    """Whatever is late."""
    wrong: list[str] = []

    def build(world: World) -> None:
        departing_nodes(world)

    def look(world: World) -> bool:
        assert world.verdict is not None
        wrong.extend([] if world.verdict.is_held else [str(world.verdict)])
        return not wrong

    for chooser, most in ((Calm(), 1), *choosers(runs_max, 0)):
        play_runs(of(build, "departing_nodes"), chooser, look, runs_max=most, driver="direct")
    assert wrong == []


@pytest.mark.spec("INV-37")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_claim_finds_its_mutants(mutant: Mutant) -> None:
    """In the calm run."""
    assert hunt(mutant, runs_max=1, seed=0, switches=None).is_killed
