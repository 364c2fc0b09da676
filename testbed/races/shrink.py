"""Shrink: leaves out of a Race all that its breach does not need, and nothing that is its cause.

It begins with the Race of a whole Run, which has every deviation as a line of its own.

1. A few lines at once: the last one before the breach alone, and the like (see `fewer.py`). Mostly
   one of these Races shows the breach, and the rest of the whole one need not be looked at.
2. Fewer faults. They go first, because a fault drags many lines along: what follows from a crash is
   gone together with it. Then fewer holds and fewer picks: all of them at once, …, then one by one.
3. Plainer holds: of a write instead of what leads to it, and until something that takes effect, as
   early as possible. Then plainer moments of faults (see `plainer.py`). This can make other lines
   unnecessary. From 2 again, until a whole pass changes nothing.
4. If no fault and more than one line is left: the first Runs with fewer deviations are tried. What
   two lines do in one Run, one may do in another, but no line of this Race can just be left out.
   Of many lines this comes before 3.
5. Only then are actors and objects left out, and the lines stay (see `leaving_out.py`). So the
   lines breach the claim in the whole World, too: none of them leans on what is not there.
6. Two Runs of the result are compared Step by Step, one under each driver, to be sure that it
   repeats. The first may be one that was played before.

A change is kept if the Race still shows the same breach: of the same claim, for the same reason,
naming the same actors and objects (see `reason.py`). Without that, a shrink could slip from a rare
bug to a common one. Nothing depends on chance or time, so the same Race always gives the same
result, unless `is_over` cuts it off.

A shrink takes tens of Runs, and never more than its Limits. No Race is played whose Run is known
(see `verdicts.py`). 3 to 5 each end when the shrink has played a stated number of Runs, so that 2
can always show that each line is needed; that they have ended so is no cut-off.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from testbed.choosers.deviations.deviating import Deviant, Deviating
from testbed.choosers.deviations.frontier import Frontier
from testbed.errors import ScenarioError
from testbed.races.fewer import FIELDS, few_at_once, fewer
from testbed.races.leaving_out import LeavingOut
from testbed.races.plainer import Plainer
from testbed.races.playing import Played, play, race_of
from testbed.races.race import Expectation, Race, actors_in
from testbed.races.trying import Limits, Trying
from testbed.turns.imprint import check_steps, diverged, twice_line
from testbed.turns.option import START, Choice, Option
from testbed.turns.verdict import Verdict, Violation
from testbed.world.scenario import Scenario

BELOW_MAX = 104
"""Runs with fewer deviations are tried until the shrink has played so many."""
MANY, MANY_MAX = 3, 80
"""Of a Race of so many lines, Runs with fewer are tried before its lines are made plainer, until
the shrink has played so many."""
NOTING_RUNS = 3
"""How many Runs it takes to write one down as a Race."""
ATTENDED_MAX = 5
"""How often a race is played with real programs until its breach shows again."""


@attrs.frozen
class Shrunk:
    """The smallest Race that was found for a breach."""

    race: Race
    """It expects the breach."""
    violation: Violation
    played: Played
    """Its Run, with its Steps kept."""
    runs: int
    """How many Runs the shrink took."""
    cut_off: str = ""
    """Why it stopped early; empty if it has shown that each line is needed."""


class InterruptedShrink(KeyboardInterrupt):
    """A Ctrl-C during a shrink."""

    def __init__(self, small: Shrunk) -> None:
        super().__init__()
        self.small = small
        """How far it had come."""


def shrink(
    race: Race, recipe: Scenario, *, invariant: str = "", limits: Limits | None = None
) -> Shrunk:
    """Find the smallest Race for the first claim that this one breaches, or for the one named.

    `race_of` makes the Race of a recorded Run. At a limit the smallest Race so far is returned, and
    at a Ctrl-C it is raised with that.
    """
    recipe.check_keep(race.switches)
    first = play(race, recipe)
    violation = breach_of(first.verdict, invariant)
    if violation is None:
        what = f"does not breach {invariant}" if invariant else "breaches nothing"
        raise ScenarioError(
            f"there is nothing to shrink: the race {what} ({first.verdict}).\n"
            "Next: play it with `testbed replay` and see what it shows."
        )
    trying = Trying(recipe, race.switches, violation, limits or Limits())
    race = attrs.evolve(race, expect=())
    trying.begin_with(race, first)
    shrinker = _Shrinker(trying)
    try:
        return shrinker.shrunk(shrinker.smallest(in_the_whole_world(race, trying), first))
    except KeyboardInterrupt:
        trying.cut_off = "interrupted"
        raise InterruptedShrink(shrinker.shrunk(trying.smallest or race)) from None


def in_the_whole_world(race: Race, trying: Trying) -> Race:
    """Return the Race with nothing left out, if it breaches the claim there, too."""
    whole = attrs.evolve(race, without=())
    return whole if race.without and trying.breaches(whole) else race


def breach_of(verdict: Verdict, invariant: str = "") -> Violation | None:
    """Return the first Violation, or the first of that claim."""
    for violation in verdict.violations:
        if not invariant or violation.invariant == invariant:
            return violation
    return None


class _Near(Deviating):
    """Deviates only by what has to do with a Race and its breach: effects of some actors, or on
    some objects, and starts of these actors. Those on the objects come first."""

    def __init__(self, plan: Deviant, frontier: Frontier, names: Collection[str]) -> None:
        bounds = (frontier.faults_max, frontier.deviations_max)
        super().__init__(plan, faults_max=bounds[0], deviations_max=bounds[1])
        self._names = names
        self._is_told = any("/" in name for name in names)

    def may_hold(self, option: Option) -> bool:
        if option.kind == START:
            return option.actor in self._names
        return option.is_effect and (option.actor in self._names or option.key in self._names)

    def comes_last(self, option: Option) -> bool:
        return option.kind == START or (self._is_told and option.key not in self._names)


class _Shrinker:
    """Makes the lines of one Race fewer and plainer."""

    def __init__(self, trying: Trying) -> None:
        self._trying = trying
        self._frontiers: dict[tuple[frozenset[str], tuple[str, ...]], Frontier] = {}
        """By what may be late, and what is left out: which Runs with few deviations were tried."""

    def smallest(self, race: Race, played: Played) -> Race:
        """Return the smallest Race that is found from this one, in the smallest World."""
        small = self.shrink(few_at_once(race, played, self._trying))
        while (less := self.below(small)) is not None:
            small = self.shrink(less)
        # With real programs no other Run is just the same, so none can tell what plays no part.
        if self._trying.recipe.attendance is not None:
            return small
        return LeavingOut(self._trying, small).race()

    def shrunk(self, race: Race) -> Shrunk:
        """Return that Race as the result, with a Run of it."""
        played, found = self.again(race)
        race = attrs.evolve(race, expect=(Expectation(violates=found.invariant),))
        return Shrunk(race, found, played, self._trying.runs, self._trying.cut_off)

    def shrink(self, race: Race) -> Race:
        """Leave out and simplify, pass by pass, until a pass changes nothing."""
        plainer = Plainer(self._trying)
        while True:
            before = race.text()
            for field in FIELDS:
                race = fewer(race, field, self._trying)
            # Plainer lines seldom make two of many unnecessary.
            if len(race) >= MANY and (less := self.below(race, MANY_MAX)) is not None:
                race = less
                continue
            race = plainer.race(race)
            if race.text() == before:
                return race

    def below(self, race: Race, runs_max: int | None = None) -> Race | None:
        """Return a Race with fewer deviations for the same breach; None if none is found.

        The first Runs of a bounded search are tried, of what is late to the actors that the lines
        name, or is about an object that the breach names. A race that needs a fault is not looked
        for. What was tried for a Race of as many lines, or more, is not tried again.
        """
        trying, most = self._trying, BELOW_MAX if runs_max is None else runs_max
        if len(race) < 2 or race.faults or trying.recipe.attendance is not None:
            return None
        names = frozenset(name for line in race.lines for name in actors_in(line)) | trying.named
        frontier = self._frontiers.setdefault(
            (names, race.without), Frontier(faults_max=0, deviations_max=len(race) - 1)
        )
        while trying.has_room(most) and (plan := frontier.next(len(race) - 1)) is not None:
            chooser = _Near(plan, frontier, names)
            world = trying.run(race, chooser)
            # Also if it has raised: with one more deviation it may not.
            frontier.told(chooser.children)
            if world is None or world.verdict is None:
                continue
            if trying.breach_in(world.verdict) is not None:
                less = self._noted(race, world.trace.choices)
                if less is not None:
                    return less
        return None

    def _noted(self, race: Race, choices: Sequence[Choice]) -> Race | None:
        """Write that Run down as a Race; None if it has as many lines as this one."""
        trying = self._trying
        if not all(trying.count(race) for _ in range(NOTING_RUNS)):
            return None
        less = race_of(trying.recipe, race.switches, choices, without=race.without)
        return less if len(less) < len(race) and trying.breaches(less) else None

    def again(self, race: Race) -> tuple[Played, Violation]:
        """Return a Run of it with its Steps, compared with one under the other driver unless time
        is up; a breach that does not repeat is an error."""
        trying = self._trying
        if trying.recipe.attendance is not None:
            return self._again_attended(race)
        again = twice_line(trying.recipe.world(race.switches))
        played = trying.last_of(race) or self._under("direct", race)
        violation = self._same(played, again)
        if not trying.cut_off:
            other = self._under("trio", race)
            check_steps(played.trace.steps, other.trace.steps, again)
            violation = self._same(other, again)
        return played, violation

    def _under(self, driver: str, race: Race) -> Played:
        self._trying.runs += 1
        return play(race, self._trying.recipe, driver=driver)

    def _same(self, played: Played, again: str) -> Violation:
        violation = self._trying.breach_in(played.verdict)
        if violation is None:
            said = f"it breached {self._trying.reason} once, and does not now"
            raise diverged(None, "the shrunk race", said, again)
        return violation

    def _again_attended(self, race: Race) -> tuple[Played, Violation]:
        """Play it with its real programs until the breach shows again. Their own timers may keep it
        from showing each time; how often it does, only many plays can tell."""
        trying = self._trying
        for _ in range(ATTENDED_MAX):
            trying.runs += 1
            played = play(race, trying.recipe)
            if (violation := trying.breach_in(played.verdict)) is not None:
                return played, violation
        raise ScenarioError(
            f"the shrunk race breached {trying.reason} once, and not in {ATTENDED_MAX} plays since"
        )
