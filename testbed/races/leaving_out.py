"""Leaving out: takes out of a World the actors and objects that play no part in a breach.

The lines of the Race stay as they are. An actor or an object is left out only if all of this is so.

1. The Run takes the same course without it, up to the same breach (see `course.py`): the claim says
   the same, each line matches the same, and all others do the same at the same times. What the
   actor did itself, and what was done to the object, is aside.
2. Neither the claim's sentence nor anyone's request looked at it by its name: a get, the node of a
   bind, the budget of an eviction, a key that the claim peeks at. A list or a watch may have shown
   it: by (1) nothing came of that.
3. It guards nothing: each line that the breach needs is needed without it, too, and the calm run
   keeps each claim that it keeps in the whole World. Otherwise it may be what the lines have to get
   past, and the next shrink would take the lines for it.
4. Neither the guard has brought it, nor another switch that is set: with the switch turned, it
   would be there, and be the same. And the scenario does not `keep` it.

With the guard on, nothing is left out at all: a breach there accuses the guard, which may rest on
anything. Nor is it if the calm run breaches the claim by itself: then any rest might, and would say
nothing of the World that was asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from testbed.invariant import Invariant
from testbed.races.course import Course, content_of, course_of
from testbed.races.race import Race
from testbed.races.trying import Trying
from testbed.turns.verdict import Verdict
from testbed.world.keeping import is_kept
from testbed.world.scenario import GUARD, Scenario
from testbed.world.world import World

RUNS_MAX = 40
"""How many Runs are spent on leaving out; what is left then stays."""
BESIDE = 2
"""How many it takes to leave something out, beside those that show that each line is needed."""
TURNS_MORE = 200
"""How many turns a Run in a smaller World may have, over twice as many as in the whole one."""


class LeavingOut:
    """Leaves actors and objects out of the World of one Race."""

    def __init__(self, trying: Trying, race: Race) -> None:
        self._trying = trying
        self._race = race
        self._stays: frozenset[str] = frozenset()
        """The names of what is never left out."""
        self._course: Course
        """That of the whole World."""
        self._matched: list[str] = []
        """For each line, what it matched."""
        self._calm: set[str] = set()
        """The claims that the calm run of the whole World breaches."""
        self._turns_max = self._calm_turns_max = 0
        """How many turns these two Runs may have in a smaller World."""
        self._tried: set[tuple[str, ...]] = set()
        """What was left out and tried, by one name after another."""
        self._began = trying.runs

    def race(self) -> Race:
        """Return the Race in the smallest World that was found; its lines stay the same."""
        race, trying = self._race, self._trying
        if is_guarded(trying.recipe, race) or not self._has_looked():
            return race
        names = self._names()
        for some in names:
            race = self._fewer(race, some)
        # One that stays may go once others are gone.
        while True:
            before = race
            for some in names:
                race = self._singly(race, some)
            if race == before or trying.cut_off:
                return race

    def _has_looked(self) -> bool:
        """Play the Race and its calm run; False if nothing may be left out, or time is up."""
        trying, race = self._trying, self._race
        calm = trying.verdict(_calm(race))
        if calm is None or trying.breach_in(calm) is not None:
            return False
        self._calm, self._calm_turns_max = _breached(calm), _more(calm.turns)
        looked: set[str] = set()
        played, violation = trying.breach_of(race, noting(trying.recipe, looked))
        if played is None or violation is None:
            return False
        self._course = course_of(played.world, violation)
        self._turns_max = _more(played.verdict.turns)
        self._matched = [fate.matched for fate in played.fates]
        recipe = trying.recipe
        kept = frozenset(n for n in recipe.named(race.switches) if is_kept(n, recipe.keep))
        self._stays = trying.named | looked | differing(recipe, race) | kept
        return True

    def _names(self) -> tuple[list[str], list[str]]:
        """The actors and the objects that may be left out, each in order."""
        world = self._trying.recipe.world(self._race.switches, without=self._race.without)
        actors = sorted(world.table.roles)
        keys = [entry.key for entry in world.store.snapshot("")]
        return self._not_staying(actors), self._not_staying(keys)

    def _not_staying(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name not in self._stays]

    def _fewer(self, race: Race, left: list[str]) -> Race:
        """Leave out neighbouring names: all of them, then half as many, …, then one by one."""
        length = len(left)
        while length > 1:
            start = 0
            while start < len(left) and not self._trying.cut_off:
                some = left[start : start + length]
                fewer = attrs.evolve(race, without=(*race.without, *some))
                if self._plays_no_part(fewer):
                    race, left = fewer, left[:start] + left[start + length :]
                else:
                    start += length
            length //= 2
        return self._singly(race, left)

    def _singly(self, race: Race, left: list[str]) -> Race:
        """Leave out one name after another, unless the same was tried before."""
        for name in left:
            fewer = attrs.evolve(race, without=(*race.without, name))
            if name in race.without or fewer.without in self._tried or self._trying.cut_off:
                continue
            self._tried.add(fewer.without)
            if self._plays_no_part(fewer):
                race = fewer
        return race

    def _plays_no_part(self, race: Race) -> bool:
        """Whether what that Race leaves out plays no part in the breach."""
        # What is begun can be ended: it may take a Run for each line, here and in the whole World.
        last = self._trying.limits.runs_max - BESIDE - 2 * len(race)
        return (
            self._trying.has_room(min(self._began + RUNS_MAX, last + 1))
            and self._takes_the_same_course(race)
            and self._guards_nothing(race)
        )

    def _takes_the_same_course(self, race: Race) -> bool:
        """(1) and (2)."""
        out = [name for name in race.without if name not in self._race.without]
        gone = {name for name in out if "/" in name} | self._course.made_by(out)
        if self._course.is_looked_at(gone, out):
            return False
        played, violation = self._trying.breach_of(race, turns_max=self._turns_max)
        if played is None or violation is None:
            return False
        if [fate.matched for fate in played.fates] != self._matched:
            return False
        rest = course_of(played.world, violation)
        # Nothing of the rest is aside: who does again what was left out takes another course.
        done = rest.aside((), ())
        return rest.said == self._course.said and done == self._course.aside(out, gone)

    def _guards_nothing(self, race: Race) -> bool:
        """(3)."""
        trying = self._trying
        calm = trying.verdict(_calm(race), self._calm_turns_max)
        if calm is None or not _breached(calm) <= self._calm:
            return False
        for whole, fewer in zip(self._race.without_each(), race.without_each(), strict=True):
            if trying.breaches(fewer) and not trying.breaches(whole):
                return False
        return not trying.cut_off


def is_guarded(recipe: Scenario, race: Race) -> bool:
    """Whether the guard of the scenario is on."""
    return recipe.has_guard and recipe.values(race.switches)[GUARD] is True


def differing(recipe: Scenario, race: Race) -> frozenset[str]:
    """Return what is there, or is as it is, by the guard or by another switch that is set: actors
    and objects that are not there when it is turned, and objects that are not the same then."""
    values = recipe.values(race.switches)
    here, found = _assembled(recipe, race.switches), set[str]()
    for name, switch in recipe.switches.items():
        if switch.kind is bool and (name == GUARD or values[name] != switch.default):
            turned = _assembled(recipe, {**race.switches, name: not values[name]})
            found |= {each for each in here if here[each] != turned.get(each)}
    return frozenset(found)


def noting(recipe: Scenario, looked: set[str]) -> Scenario:
    """Return the same scenario; in its Worlds, the keys are noted at which its own claims look, one
    by one, and those that they declare to read."""

    def build(world: World, **switches: Any) -> None:
        of_every_world = len(world.judge.claims)
        world.judge.note_looks(looked)
        recipe.build(world, **switches)
        for claim in world.judge.claimed(Invariant)[of_every_world:]:
            looked.update(claim.reads or ())

    return attrs.evolve(recipe, build=build)


def _more(turns: int) -> int:
    """Twice as many turns and some. A Run that needs more takes another course. A calm run that has
    breached nothing by then is Undecided, which counts as a breach."""
    return 2 * turns + TURNS_MORE


def _calm(race: Race) -> Race:
    return race.having(())


def _breached(verdict: Verdict) -> set[str]:
    """Return the claims that were breached; Undecided counts as one more, since any may be."""
    undecided = {"undecided"} if verdict.among_others == "undecided" else set()
    return {violation.invariant for violation in verdict.violations} | undecided


def _assembled(recipe: Scenario, switches: Mapping[str, Any]) -> dict[str, str]:
    """By name: each actor, and each object with what it says."""
    world = recipe.world(switches)
    objects = {entry.key: content_of(entry.value) for entry in world.store.snapshot("")}
    return {**dict.fromkeys(world.table.roles, ""), **objects}
