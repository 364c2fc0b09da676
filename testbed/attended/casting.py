"""Casting: a Scenario with real programs in place of some of its actors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import attrs

from testbed.attended.door import Door
from testbed.attended.doorman import Doorman
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes
from testbed.world.scenario import Scenario


def attended_by(
    recipe: Scenario,
    commands: Mapping[str, tuple[str, ...]],
    folder: Callable[[], Path],
    times: WallTimes | None = None,
    *,
    guests: Iterable[str] = (),
    door: Door | None = None,
) -> Scenario:
    """That Scenario with these programs, by the names of the actors in place of which they stand,
    and with guests. Each World asks for a `folder`, in which their kubeconfigs and their output
    then stand."""
    return attrs.evolve(
        recipe, attendance=lambda: Doorman(Troupe(commands, folder(), guests), times, door)
    )
