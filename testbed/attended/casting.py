"""Casting: a Scenario with real programs in place of some of its actors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import attrs

from testbed.attended.door import Door
from testbed.attended.doorman import Doorman
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes
from testbed.errors import ScenarioError, UnknownName
from testbed.world.scenario import Scenario
from testbed.world.world import World


def attended_by(
    recipe: Scenario,
    commands: Mapping[str, tuple[str, ...]],
    folder: Callable[[], Path],
    times: WallTimes | None = None,
    *,
    guests: Iterable[str] = (),
    door: Door | None = None,
) -> Scenario:
    """That Scenario with real programs, by the name of the actor that each stands in place of, and
    with guests. Each World asks for a `folder`, in which their kubeconfigs and their output
    then stand."""
    return attrs.evolve(
        recipe, attendance=lambda: Doorman(Troupe(commands, folder(), guests), times, door)
    )


def check_names(names: Iterable[str], world: World, option: str = "") -> None:
    """Refuse a program that stands in place of no actor of that World; or of one that answers,
    since the API server is always ours. The option is what a name was given by."""
    known = sorted({*world.table.roles} - {*world.wire.posts})
    for name in names:
        if name in world.wire.posts:
            raise ScenarioError(
                f"{option}{name}: it serves the others, and only what asks can be a real program."
                f"\nNext: name one of {', '.join(known)}."
            )
        if name not in known:
            raise UnknownName("actor", name, known, see="name one of these")
