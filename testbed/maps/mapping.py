"""Mapping: makes the complete map of a scenario, if it is small enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from testbed.fault import Fault
from testbed.invariants.lasso.no_lasso import NoLasso
from testbed.maps.looks import PastLooks
from testbed.maps.state_map import StateMap
from testbed.maps.walking import Walker
from testbed.switches import text_of
from testbed.turns.session import play_all
from testbed.words import counted
from testbed.world.scenario import Scenario
from testbed.world.world import World

STATES_MAX = 5_000
TURNS_MAX = 1_000_000
"""A Run may be as long as the map has states: the number of turns is no part of a state."""

Progress = Callable[[int, int, int], None]
"""Told now and then how many states were found, how many Runs were played, and how many moves are
still to be tried."""


@attrs.frozen
class NoMap:
    """Why there is no map of a scenario, and what to do."""

    said: str


def state_map(
    recipe: Scenario,
    switches: Mapping[str, Any] | None = None,
    *,
    faults: Iterable[Fault] = (),
    faults_max: int | None = None,
    states_max: int = STATES_MAX,
    goes_on: bool = False,
    progress: Progress | None = None,
) -> StateMap | None:
    """The complete map; None if it would have more than `states_max` states. See `try_to_map`."""
    found = try_to_map(
        recipe, switches, faults=faults, faults_max=faults_max, states_max=states_max,
        goes_on=goes_on, progress=progress,
    )  # fmt: skip
    return found if isinstance(found, StateMap) else None


def try_to_map(
    recipe: Scenario,
    switches: Mapping[str, Any] | None = None,
    *,
    faults: Iterable[Fault] = (),
    faults_max: int | None = None,
    states_max: int = STATES_MAX,
    turns_max: int | None = None,
    goes_on: bool = False,
    progress: Progress | None = None,
) -> StateMap | NoMap:
    """The complete map, or why there is none.

    It has each order of all that is ready, each alternative of each pick, and each fault that the
    scenario allows or that is given, `faults_max` of them at most in one Run. Nothing is held back
    while time passes, as in the complete search. A breach ends a Run, unless the map `goes_on`:
    then the ends are those of whole Runs, as the complete search sees them. There is none either if
    its Runs have more than `turns_max` turns together.
    """
    if recipe.attendance is not None:
        return NoMap(f"real programs take part in {recipe.name}: what they do next is not known.")
    making = _Making(
        recipe, switches or {}, tuple(faults), faults_max, states_max, turns_max, goes_on, progress
    )
    play_all(making.worlds(), driver="direct")
    return making.found()


class _Making:
    """A map in the making: it hands out one World after another, and looks at what each showed."""

    def __init__(
        self,
        recipe: Scenario,
        switches: Mapping[str, Any],
        faults: tuple[Fault, ...],
        faults_max: int | None,
        states_max: int,
        turns_max: int | None,
        goes_on: bool,
        progress: Progress | None,
    ) -> None:
        self._recipe = recipe
        self._switches = switches
        own = recipe.world(switches).allowed
        self._faults = tuple(each for each in faults if each not in own)
        """Those that the scenario does not allow itself."""
        self._faults_max = faults_max
        self._states_max = states_max
        self._turns_max = turns_max
        self._goes_on = goes_on
        self._progress = progress
        self._looks = PastLooks()
        self._walker = self._new_walker()
        self._world: World
        self._runs = self._turns = 0
        self._no_map = ""

    def _new_walker(self) -> Walker:
        return Walker(self._looks, faults_max=self._faults_max, goes_on=self._goes_on)

    def worlds(self) -> Iterator[World]:
        """One World for each Run, until each move was tried or there is no map."""
        while not self._no_map and not self._walker.is_done:
            self._world = world = self._recipe.world(self._switches, faults=self._faults)
            left = TURNS_MAX
            if self._turns_max is not None:
                left = min(left, self._turns_max - self._turns + 1)
            world.limit(turns_max=left, instant_turns_max=left)
            for claim in world.judge._invariants:
                self._looks.watch(claim)
            self._walker.lead(world)
            world.prepare(self._walker, number=self._runs)
            yield world
            self._runs += 1
            self._turns += world.verdict.turns if world.verdict is not None else 0
            self._look()

    def _look(self) -> None:
        """A Run is over: see whether the map can go on."""
        walker, states = self._walker, self._walker.states
        if self._turns_max is not None and self._turns > self._turns_max:
            most = counted(self._turns_max, "turn")
            self._no_map = f"a map of {self._recipe.name} takes more than {most}."
        elif self._looks.has_grown:
            # Something more has to be compared: what was taken for the same may not be.
            self._looks.has_grown = False
            self._walker = self._new_walker()
        elif walker.refused:
            self._no_map = f"{walker.refused}: a map of {self._recipe.name} would not end there."
        elif states > self._states_max:
            self._no_map = too_large(self._recipe, states, self._states_max)
        if self._progress is not None:
            self._progress(states, self._runs, walker.graph.to_try)

    def found(self) -> StateMap | NoMap:
        """The map that was made, or why there is none."""
        if self._no_map:
            return NoMap(self._no_map)
        graph = self._walker.graph
        return StateMap(
            said=_said(self._recipe, self._switches),
            bounds=_bounds(self._world, self._faults_max),
            places=graph.places,
            ends=list(self._walker.ends),
            shortest=graph.calmest_ways(),
            lanes=[role.name for role in self._world.evidence.actors],
            tables=self._walker.tables,
            runs=self._runs,
            moves_made=sum(len(place.arcs) for place in graph.places),
            unlike=self._walker.unlike,
        )


def too_large(recipe: Scenario, states: int, states_max: int) -> str:
    """Why there is no map, and what to do."""
    return (
        f"{recipe.name} has more than {counted(states_max, 'state')} ({states:,} were found).\n"
        "Next: fewer actors, pods or retries, fewer faults, or a larger states_max."
    )


def _said(recipe: Scenario, switches: Mapping[str, Any]) -> str:
    set_to = [f"{name}={text_of(value)}" for name, value in sorted(recipe.values(switches).items())]
    return " ".join([recipe.name, *set_to])


def _bounds(world: World, faults_max: int | None) -> str:
    """What the map leaves out."""
    said = "Nothing is held back while time passes."
    if faults_max is not None and faults_max < world.faults_max:
        said += f" At most {counted(faults_max, 'fault')} of {world.faults_max:,} in one Run."
    if world.judge.claimed(NoLasso):
        said += " no_lasso is not judged: what goes on for ever is a circle of moves."
    return said
