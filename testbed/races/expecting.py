"""Expecting: plays a Race once for each expectation, and says whether it did what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import attrs

from testbed.errors import HarnessError, RaceRefused, UnknownName, did_you_mean
from testbed.objects.meta import Map
from testbed.races.playing import Played, play
from testbed.races.race import Expectation, Race, actors_in
from testbed.races.race_chooser import Fate
from testbed.world.in_force import is_of_component
from testbed.world.scenario import GUARD, Scenario
from testbed.world.world import World


@attrs.frozen
class Side:
    """One side of a pair: a Race, played under the switches of one expectation."""

    expected: Expectation | None
    """None if nothing is expected."""
    played: Played

    @property
    def is_met(self) -> bool:
        """Whether it did what was expected; Undecided is never expected.

        If claims are named that must hold, those of every World must, too: what an actor would have
        done that has died, or is stuck, breaches nothing. The other claims of the scenario may be
        breached, since the Run has gone on to its end all the same.
        """
        verdict, expected = self.played.verdict, self.expected
        if expected is None:
            return True
        breached = {violation.invariant for violation in verdict.violations}
        if expected.violates:
            return expected.violates in breached
        if verdict.is_held or verdict.nothing or not expected.holds:
            return verdict.is_held
        return verdict.end == "quiet" and breached.isdisjoint((*expected.holds, *of_every_world()))

    @property
    def unmatched(self) -> list[Fate]:
        """The lines that matched nothing."""
        return self.played.unmatched

    @property
    def is_stale(self) -> bool:
        """Whether a breach is expected and a line matched nothing: the file is out of date.

        If a claim is expected to hold, this says nothing: behind a guard, an operation that a line
        names may rightly never come.
        """
        return self.expected is not None and bool(self.expected.violates and self.unmatched)

    @property
    def is_as_expected(self) -> bool:
        """Whether it did what was expected and, if that is a breach, every line matched."""
        return self.is_met and not self.is_stale

    @property
    def gone(self) -> list[str]:
        """The lines that matched nothing, each as a sentence with what came closest to it."""
        return [
            f"line {fate.deviation.line} matched nothing: {fate.deviation}{self.closest(fate)}"
            for fate in self.unmatched
        ]

    def closest(self, fate: Fate) -> str:
        """Return the end of a sentence: what came closest, or that there is no such actor."""
        if stranger := self.stranger(fate):
            return f"; {stranger}"
        closest = self.played.closest(fate)
        return f"; closest: {closest}" if closest else ""

    def stranger(self, fate: Fate) -> str:
        """Say which name in that line is no actor and no server; empty if all of them are."""
        world = self.played.world
        known = sorted({*world.table.roles, *world.wire.posts})
        for name in actors_in(fate.deviation):
            if not any(fnmatchcase(each, name) for each in known):
                hint = did_you_mean(name, known)
                return f"there is no actor {name!r}.{hint} There are: {', '.join(known)}"
        return ""

    @property
    def said(self) -> str:
        """Whether it did what was expected, in a few words."""
        if self.expected is None:
            return "nothing is expected"
        return "as expected" if self.is_met else f"not as expected, which is: {self.expected}"


def expect(
    race: Race, recipe: Scenario, expected: Expectation | None, path: str, **how: Any
) -> Side:
    """Play it for one expectation. If that names claims that must hold, the Run goes on when
    another one is breached.

    If the scenario makes no such claim, the error has the line and the nearest name.
    """
    switches = {} if expected is None else expected.switches
    goes_on = expected is not None and bool(expected.holds)
    played = play(race, recipe, switches=switches, goes_on=goes_on, **how)
    if expected is not None:
        _check_claims(expected, played, path, recipe.name)
    return Side(expected, played)


def of_every_world() -> list[str]:
    """Return the names of the claims that every World has."""
    return World().judge.claims


def both_sides(race: Race, recipe: Scenario, path: str, **how: Any) -> list[Side]:
    """Play it once for each of its expectations, or once if it has none."""
    return [expect(race, recipe, each, path, **how) for each in race.expect or (None,)]


def pair_of(race: Race, recipe: Scenario, path: str) -> tuple[Expectation, ...]:
    """Return what a test of this race expects: with the guard off the breach, and with the guard on
    that the claim holds.

    1. A side that expects no breach stays.
    2. A side that expects the breach with the guard off becomes both sides of the pair.
    3. So does one that expects it with the guard on; but with the guard off the breach is expected
       only if it happens there, too.
    4. If the scenario has no guard, the claim must hold: then the code itself is to be mended.
    """
    if not recipe.has_guard:
        return tuple(side.held for side in race.expect)

    def played_as(side: Expectation) -> tuple[object, ...]:
        values = recipe.values({**race.switches, **side.switches})
        return (*sorted(values.items()), side.violates)

    pair: list[Expectation] = []
    for side in race.expect:
        if not side.violates:
            pair.append(side)
            continue
        off, on = (_guarded(side, recipe, value) for value in ("off", "on"))
        is_off = not recipe.values({**race.switches, **side.switches})[GUARD]
        if is_off or expect(race, recipe, off, path, keep=False).is_as_expected:
            pair.append(off)
        if played_as(on.held) not in map(played_as, race.expect):
            pair.append(on.held)
    return tuple({played_as(side): side for side in reversed(pair)}.values())[::-1]


def _guarded(side: Expectation, recipe: Scenario, value: str) -> Expectation:
    """That side with the guard off or on, said so in the file."""
    said = side.switches.get(GUARD)
    parse = recipe.switches[GUARD].parse
    if said is not None and parse(said) == parse(value):
        return side
    return attrs.evolve(side, switches=Map({**side.switches, GUARD: value}))


def check_switches(race: Race, recipe: Scenario, path: str) -> None:
    """Raise with the line of a switch if the scenario does not have it, or not that value."""
    places: tuple[Race | Expectation, ...] = (race, *race.expect)
    for named in places:
        # Which components there are may depend on the scenario's own switches.
        all_of_them = {**race.switches, **named.switches}
        own = {name: all_of_them[name] for name in all_of_them if not is_of_component(name)}
        for name, value in named.switches.items():
            try:
                recipe.check({**own, name: value} if is_of_component(name) else {name: value})
            except HarnessError as error:
                line = named.switch_lines.get(name, named.line)
                raise RaceRefused(f"{path}, line {line}: {error}") from error


def expected_under(race: Race, recipe: Scenario, switches: Mapping[str, Any]) -> Expectation | None:
    """Return what is expected under these switches; None if the file has no side for them.

    Then nothing that the race shows under them can be wrong.
    """
    given = recipe.values({**race.switches, **switches})
    for each in race.expect:
        if recipe.values({**race.switches, **each.switches}) == given:
            return each
    return None


def _check_claims(expected: Expectation, played: Played, path: str, scenario: str) -> None:
    claims = played.world.judge.claims
    for name in (expected.violates, *expected.holds):
        if name and name not in claims:
            see = "name one of these in `expect:`"
            error = UnknownName(f"claim of {scenario}", name, claims, see=see)
            raise RaceRefused(f"{path}, line {expected.line}: {error}")
