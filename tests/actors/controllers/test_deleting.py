"""The claims about those who delete pods for the good of the cluster."""

from __future__ import annotations

import pytest

from actors.controllers.proving_grounds.ailing_nodes import ailing_nodes
from testbed.choosers.calm import Calm
from testbed.testing.seek import choosers
from testbed.world.scenario import of, play_runs
from testbed.world.world import World


@pytest.mark.spec("INV-32", "CTL-24", "CTL-34", "CTL-40", "CTL-57")
@pytest.mark.parametrize("runs_max", [6, pytest.param(2000, marks=pytest.mark.long)])
def test_the_controllers_delete_what_they_may(runs_max: int) -> None:
    """Whatever is late."""
    wrong: list[str] = []

    def build(world: World) -> None:
        ailing_nodes(world)

    def look(world: World) -> bool:
        assert world.verdict is not None
        wrong.extend([] if world.verdict.is_held else [str(world.verdict)])
        return not wrong

    for chooser, most in ((Calm(), 1), *choosers(runs_max, 0)):
        play_runs(of(build, "ailing_nodes"), chooser, look, runs_max=most, driver="direct")
    assert wrong == []
