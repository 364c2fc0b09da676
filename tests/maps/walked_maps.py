"""Maps held against the World: each path is played there, and the complete search sees its ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.complete import Complete
from testbed.maps.graph import Arc, MapPlace
from testbed.maps.mapping import NoMap, try_to_map
from testbed.maps.saying import same_of
from testbed.maps.state_map import StateMap
from testbed.maps.walking import RESTS, EndFound, end_found
from testbed.turns.option import Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step
from testbed.turns.verdict import Violation
from testbed.world.scenario import Scenario, play_runs

Path = list[tuple[int, int]]
"""For each state, the number of the arc that is taken out of it."""
FAULTS_HIDDEN = "fault"


def map_of(recipe: Scenario, switches: Mapping[str, Any] | None = None, **given: Any) -> StateMap:
    """Its map, which must be there."""
    found = try_to_map(recipe, switches, **given)
    assert not isinstance(found, NoMap), found.said
    return found


class Led(Chooser):
    """Goes one path of a map by the words of its moves, and compares the moves of each state."""

    def __init__(self, found: StateMap, path: Path, faults_max: int | None) -> None:
        self._map = found
        self._path = path
        self._faults_max = faults_max
        self._struck = 0
        self.done = 0

    def begin(self, run: RunInfo) -> Plan | None:
        allowed = run.faults_max
        self._may = allowed if self._faults_max is None else min(allowed, self._faults_max)
        return Plan("a path of a map")

    def ended(self, step: Step) -> None:
        """Nothing; but so the Steps are made that a claim may look at, as in a Run that is kept."""

    def choose(self, options: Options | Alternatives) -> int:
        choice = self._next(options, 0)
        assert choice is not None
        return choice

    def strike(self, options: Options) -> int | None:
        return self._next(options, options.ready)

    def _next(self, options: Options | Alternatives, first: int) -> int | None:
        assert self.done < len(self._path), "the map says that the Run is over"
        number, at = self._path[self.done]
        self.done += 1
        place = self._map.places[number]
        end = len(options) if self._struck < self._may else options.ready
        there = [options[index] for index in range(first, end)]
        says = sorted(arc.same for arc in place.arcs if arc.same != RESTS)
        assert says == sorted(map(same_of, there)), f"other moves in state {number}"
        arc = place.arcs[at]
        if arc.same == RESTS:
            return None
        self._struck += arc.kind == FAULTS_HIDDEN
        return first + _found(there, arc)


def _found(there: list[Option], arc: Arc) -> int:
    places = [at for at, option in enumerate(there) if same_of(option) == arc.same]
    return places[arc.nth]


def walk(
    recipe: Scenario,
    found: StateMap,
    path: Path,
    switches: Mapping[str, Any] | None = None,
    faults_max: int | None = None,
    *,
    goes_on: bool = False,
) -> None:
    """Play that path in another World: each state has its moves, and the end is that of the map."""
    world = recipe.world(switches)
    led = Led(found, path, faults_max)
    world.goes_on |= goes_on
    verdict = world.run(led, driver="direct")
    assert led.done == len(path), f"the Run was over after {led.done} of {len(path)}: {verdict}"
    number, at = path[-1]
    place = found.places[number]
    last = place if place.arcs[at].same == RESTS else found.places[place.arcs[at].to]
    assert found.ends[last.end] == end_found(verdict.outcome, verdict.end, verdict.violations)


def every_path(found: StateMap, paths_max: int) -> Iterator[Path]:
    """All paths to an end that come to no state twice, the calmest first; so many at most."""
    return islice(_paths(found.places), paths_max)


def _paths(places: list[MapPlace]) -> Iterator[Path]:
    path: Path = []
    seen: set[int] = set()
    waiting = [(0, iter(range(len(places[0].arcs))))]
    seen.add(0)
    while waiting:
        number, arcs = waiting[-1]
        at = next(arcs, None)
        if at is None:
            waiting.pop()
            seen.discard(number)
            if path:
                path.pop()
            continue
        arc = places[number].arcs[at]
        here = [*path, (number, at)]
        if arc.same == RESTS or not places[arc.to].arcs:
            yield here
        elif arc.to not in seen:
            seen.add(arc.to)
            path.append((number, at))
            waiting.append((arc.to, iter(range(len(places[arc.to].arcs)))))


def some_paths(found: StateMap, paths: int, seed: int = 0) -> Iterator[Path]:
    """Random paths that take what no path before has taken, where they can. They may come to a
    state again, and take no move twice."""
    random, taken = Random(seed), set[tuple[int, int]]()
    for _ in range(paths):
        path, number = Path(), 0
        while True:
            arcs = found.places[number].arcs
            ways = [at for at in range(len(arcs)) if (number, at) not in path]
            if not ways:
                break
            fresh = [at for at in ways if (number, at) not in taken] or ways
            at = fresh[random.getrandbits(16) % len(fresh)]
            taken.add((number, at))
            path.append((number, at))
            if arcs[at].same == RESTS or not found.places[arcs[at].to].arcs:
                yield path
                break
            number = arcs[at].to


def ends_of(search: Complete) -> set[EndFound]:
    """The ends of the classes that a complete search has kept."""
    return {
        end_found(
            seen.outcome, seen.end, tuple(Violation(name, said, 0, 0) for name, said in seen.broken)
        )
        for seen in search.seen
    }


@attrs.frozen
class Agreed:
    """A map and a complete search of one scenario."""

    found: StateMap
    search: Complete

    @property
    def ends(self) -> set[EndFound]:
        """The ends of the map."""
        return set(self.found.ends)


def agreed(
    recipe: Scenario,
    switches: Mapping[str, Any] | None = None,
    *,
    faults_max: int | None = None,
    runs_max: int = 5_000,
) -> Agreed:
    """The map of whole Runs and the complete search, which must know the same ends."""
    search = Complete(faults_max)
    play_runs(
        recipe, search, lambda _: True, runs_max=runs_max, switches=switches or {}, driver="direct"
    )
    assert search.is_complete, search.summary
    found = map_of(recipe, switches, faults_max=faults_max, goes_on=True)
    assert set(found.ends) == ends_of(search)
    return Agreed(found, search)
