"""The complete map of what a page shows, if its World is small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from testbed.choosers.calm import Calm
from testbed.cli.progress import Progress
from testbed.fault import Fault
from testbed.maps.mapping import STATES_MAX, NoMap, try_to_map
from testbed.maps.state_map import StateMap
from testbed.switches import text_of
from testbed.words import counted
from testbed.world.scenario import Scenario

TURNS_MAX = 40
"""A World with a longer calm run is mapped only if it is asked for: it may take minutes to see that
it is too large."""
UNASKED_MAX = 1_500
"""How many states a map may have that was not asked for."""
WORK_MAX = 20_000
"""How many turns may be played for one that was not asked for: some seconds."""


def mapped(
    recipe: Scenario,
    switches: Mapping[str, Any],
    faults: Sequence[Fault] = (),
    *,
    states_max: int | None = None,
    turns_max: int | None = None,
) -> StateMap | NoMap:
    """The map of that World, with a line of progress; or why there is none."""
    progress = Progress()

    def follow(states: int, runs: int, to_try: int) -> None:
        progress.say(
            lambda: f"the map: {counted(states, 'state')}, {counted(to_try, 'move')} to be tried"
        )

    try:
        return try_to_map(
            recipe, switches, faults=faults, states_max=states_max or STATES_MAX,
            turns_max=turns_max, progress=follow,
        )  # fmt: skip
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
    found = mapped(recipe, switches, faults, states_max=UNASKED_MAX, turns_max=WORK_MAX)
    return found if isinstance(found, StateMap) else None


class Maps:
    """The maps of some pages, each made once; those of small Worlds only, unless all are wanted."""

    def __init__(self, *, all_wanted: bool = False) -> None:
        self.all_wanted = all_wanted
        self._made: dict[str, StateMap | NoMap | None] = {}
        """By the World: its map, or why there is none; None if it was not wanted, and is not small
        enough."""

    def of(
        self, recipe: Scenario, switches: Mapping[str, Any], faults: Sequence[Fault] = ()
    ) -> StateMap | NoMap | None:
        """The map of that World."""
        values = sorted((name, text_of(value)) for name, value in recipe.values(switches).items())
        world = repr((recipe.name, values, sorted(map(repr, faults))))
        if world not in self._made:
            make = mapped if self.all_wanted else mapped_if_small
            self._made[world] = make(recipe, switches, faults)
        return self._made[world]
