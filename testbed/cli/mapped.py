"""The complete map of what a page shows, if its World is small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from testbed.choosers.calm import Calm
from testbed.cli.progress import Progress
from testbed.fault import Fault
from testbed.maps.mapping import STATES_MAX, NoMap, try_to_map
from testbed.maps.state_map import StateMap
from testbed.words import counted
from testbed.world.scenario import Scenario

TURNS_MAX = 40
"""A World with a longer calm run is mapped only if it is asked for: it may take minutes to see that
it is too large."""
UNASKED_MAX = 1_500
"""How many states a map may have that was not asked for."""


def mapped(
    recipe: Scenario,
    switches: Mapping[str, Any],
    faults: Sequence[Fault] = (),
    *,
    states_max: int | None = None,
) -> StateMap | NoMap:
    """The map of that World, with a line of progress; or why there is none."""
    progress = Progress()

    def follow(states: int, runs: int, to_try: int) -> None:
        progress.say(
            lambda: f"the map: {counted(states, 'state')}, {counted(to_try, 'move')} to be tried"
        )

    try:
        return try_to_map(
            recipe, switches, faults=faults, states_max=states_max or STATES_MAX, progress=follow
        )
    finally:
        progress.clear()


def mapped_if_small(
    recipe: Scenario, switches: Mapping[str, Any], faults: Sequence[Fault] = ()
) -> StateMap | None:
    """The map of that World, if it looks small by its calm run, and is."""
    if recipe.attendance is not None:
        return None
    calm = recipe.world(switches, faults=faults).run(Calm(), driver="direct")
    if calm.turns > TURNS_MAX:
        return None
    found = mapped(recipe, switches, faults, states_max=UNASKED_MAX)
    return found if isinstance(found, StateMap) else None
