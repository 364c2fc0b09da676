"""Shrink: leaves out of a Race all that its breach does not need.

It begins with the Race of a whole Run, which has every deviation as a line of its own.

1. Fewer faults. They go first, because a fault drags many lines along: what follows from a crash is
   gone together with it.
2. Fewer actors and objects: all that can be left out of the World is. That takes whole groups of
   lines, and makes every later Run shorter. The calm run of the rest must keep each claim that the
   calm run of the whole World keeps; otherwise the rest would be broken by itself, and be no race.
3. Fewer holds, then fewer picks: all of them at once, then half of them, …, then one by one.
4. Plainer holds: of a write instead of what leads to it, and until something that takes effect, as
   early as possible. Then plainer moments of faults. This can make other lines unnecessary.
5. From 1 again, until a whole pass changes nothing.
6. If no fault and more than one line is left: the first Runs with fewer deviations are tried. What
   two lines do in one Run, one may do in another, but no line of this Race can just be left out.
7. The result is played twice more, to be sure that it repeats.

A change is kept if the Race still breaches the same claim for the same reason (see `reason.py`).
Without that, a shrink could slip from a rare bug to a common one. Steps 1 to 3 only ever remove,
and step 4 only takes a candidate that stands before the current one in its list, so a pass that
changes nothing comes soon; RUNS_MAX is the limit in any case. Nothing depends on chance or time, so
the same Race always gives the same result, unless `is_over` cuts it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from testbed.choosers.bounded import Deviating, Frontier
from testbed.errors import ReplayDiverged, ScenarioError
from testbed.invariant import Verdict, Violation
from testbed.races.pattern import Pattern
from testbed.races.playing import Names, Played, play, race_of
from testbed.races.race import Expectation, Hold, Race, aim
from testbed.races.reason import reason_of
from testbed.turns.imprint import check_steps, twice_line
from testbed.turns.option import DELIVER, HOLD, SERVE, Option
from testbed.turns.pending import CALM_ORDER
from testbed.turns.trace import Step
from testbed.words import counted
from testbed.world.scenario import Scenario

RUNS_MAX = 2000
"""How many Runs one shrink may take."""
BELOW_MAX = 150
"""How many Runs with fewer deviations are tried."""
REQUESTS_MAX = 3
"""How many writes that follow from what is held are tried in its place."""
READS = ("get", "list", "watch")


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
    """Why it stopped early; empty if nothing more can be left out."""


def never_over() -> bool:
    """Say that time is not up: for a shrink that only its Runs limit."""
    return False


def shrink(
    race: Race,
    recipe: Scenario,
    *,
    invariant: str = "",
    runs_max: int = RUNS_MAX,
    on_run: Callable[[int, int], None] = lambda runs, size: None,
    is_over: Callable[[], bool] = never_over,
) -> Shrunk:
    """Find the smallest Race for the first claim that this one breaches, or for the one named.

    `race_of` makes the Race of a recorded Run. `is_over` is asked before each Run: once it says
    yes, the smallest Race so far is returned.
    """
    first = play(race, recipe)
    violation = breach_of(first.verdict, invariant)
    if violation is None:
        what = f"does not breach {invariant}" if invariant else "breaches nothing"
        raise ScenarioError(
            f"there is nothing to shrink: the race {what} ({first.verdict}).\n"
            "Next: play it with `testbed replay` and see what it shows."
        )
    shrinker = _Shrinker(recipe, reason_of(violation), runs_max, on_run, is_over)
    small = shrinker.shrink(attrs.evolve(race, expect=()))
    while (fewer := shrinker.below(small)) is not None:
        small = shrinker.shrink(fewer)
    last, found = shrinker.again(small)
    expect = (Expectation(violates=violation.invariant),)
    return Shrunk(attrs.evolve(small, expect=expect), found, last, shrinker.runs, shrinker.cut_off)


def breach_of(verdict: Verdict, invariant: str = "") -> Violation | None:
    """Return the first Violation, or the first of that claim."""
    for violation in verdict.violations:
        if not invariant or violation.invariant == invariant:
            return violation
    return None


class _Shrinker:
    """Makes one Race smaller for one reason, and counts the Runs that it takes."""

    def __init__(
        self,
        recipe: Scenario,
        reason: str,
        runs_max: int,
        on_run: Callable[[int, int], None],
        is_over: Callable[[], bool],
    ) -> None:
        self.recipe = recipe
        self.reason = reason
        self.runs = 0
        self.runs_max = runs_max
        self.cut_off = ""
        """Why no more Runs are played; empty while they are."""
        self._needs_no_race: bool | None = None
        """Whether the calm run of the whole World breaches the claim; None until that is asked."""
        self._on_run = on_run
        self._is_over = is_over
        self._known: dict[str, Verdict | None] = {}
        """By the text of a Race that was played: its Verdict, or None if it raised."""

    def breaches(self, race: Race) -> bool:
        """Whether it breaches the same claim for the same reason."""
        verdict = self._verdict(race)
        return verdict is not None and any(
            reason_of(violation) == self.reason for violation in verdict.violations
        )

    def _verdict(self, race: Race) -> Verdict | None:
        """Return the Verdict of that Race; None if it raises, or if no more may be played."""
        if not self._goes_on():
            return None
        text = race.text()
        if text not in self._known:
            self.runs += 1
            self._on_run(self.runs, len(race))
            self._known[text] = self._played(race)
        return self._known[text]

    def _goes_on(self) -> bool:
        """Whether one more Run may be played; notes why not."""
        if not self.cut_off and self._is_over():
            self.cut_off = "time is up"
        if not self.cut_off and self.runs >= self.runs_max:
            self.cut_off = f"after {counted(self.runs, 'run')}"
        return not self.cut_off

    def _played(self, race: Race) -> Verdict | None:
        """Play it; None if it raises.

        A claim or an actor may raise because what it needs was left out. That is no breach, so that
        Race is no smaller one, and the shrink goes on without it.
        """
        try:
            return play(race, self.recipe, keep=False).verdict
        except Exception:  # noqa: BLE001 - the scenario's own, as said above
            return None

    def shrink(self, race: Race) -> Race:
        """Leave out and simplify, pass by pass, until a pass changes nothing."""
        while True:
            before = race.text()
            race = self._fewer(race, "faults")
            race = self._without(race)
            race = self._fewer(race, "holds")
            race = self._fewer(race, "picks")
            race = self._plainer(race)
            race = self._plainer_moments(race)
            if race.text() == before:
                return race

    def below(self, race: Race) -> Race | None:
        """Return a Race with fewer deviations for the same breach; None if none is found.

        The first Runs of a bounded search are tried. A race that needs a fault is not looked for.
        """
        if len(race) < 2 or race.faults:
            return None
        frontier = Frontier(faults_max=0, deviations_max=len(race) - 1)
        for _ in range(BELOW_MAX):
            plan = frontier.next()
            if plan is None or not self._goes_on():
                break
            self.runs += 1
            chooser = Deviating(plan, faults_max=0, deviations_max=frontier.deviations_max)
            world = self.recipe.world(race.switches, without=race.without)
            verdict = world.run(chooser, driver="direct")
            if any(reason_of(violation) == self.reason for violation in verdict.violations):
                fewer = race_of(
                    self.recipe, race.switches, world.trace.choices, without=race.without
                )
                if len(fewer) < len(race) and self.breaches(fewer):
                    return fewer
            frontier.told(chooser.children)
        return None

    def again(self, race: Race) -> tuple[Played, Violation]:
        """Play it twice more, or once if time is up; a breach that does not repeat is an error."""
        again = twice_line(self.recipe.world(race.switches))
        before: Played | None = None
        for _ in range(1 if self.cut_off else 2):
            self.runs += 1
            played = play(race, self.recipe)
            if before is not None:
                check_steps(before.trace.steps, played.trace.steps, again)
            violations = [v for v in played.verdict.violations if reason_of(v) == self.reason]
            if not violations:
                raise ReplayDiverged(
                    f"the shrunk race breaches {self.reason} once, and then does not: something "
                    f"outside the World decides.\nNext: {again}, which names what moved last."
                )
            before = played
        return played, violations[0]

    def _fewer(self, race: Race, field: str) -> Race:
        """Leave out neighbouring lines: all of them, then half as many, …, then single lines.

        Neighbouring lines often belong together, such as a hold and those that follow from it.
        A line that must stay when others are there may go once they are gone, so what is kept is
        tried again with each shorter length, and in the next pass.
        """
        length = len(getattr(race, field))
        while length:
            start = 0
            while start < len(lines := getattr(race, field)) and not self.cut_off:
                fewer = attrs.evolve(race, **{field: lines[:start] + lines[start + length :]})
                smaller = next(filter(self.breaches, (fewer, in_any_life(fewer))), None)
                if smaller is not None:
                    race = smaller
                else:
                    start += length
            length //= 2
        return race

    def _without(self, race: Race) -> Race:
        """Leave out actors, then objects: first many at once, then one by one."""
        world = self.recipe.world(race.switches, without=race.without)
        for names in (sorted(world.table.roles), [e.key for e in world.store.snapshot("")]):
            left = names
            length = len(left)
            while length:
                start = 0
                while start < len(left) and not self.cut_off:
                    some = tuple(left[start : start + length])
                    fewer = attrs.evolve(race, without=(*race.without, *some))
                    if self.breaches(fewer) and self._is_still_a_race(fewer):
                        race, left = fewer, left[:start] + left[start + length :]
                    else:
                        start += length
                length //= 2
        return race

    def _is_still_a_race(self, race: Race) -> bool:
        """Whether what is left of the World is right as long as nothing deviates.

        Its calm run must keep each claim that the calm run of the whole World keeps. If that one
        breaches the claim itself, nothing is left out: any rest might breach it, too, and would say
        nothing about the World that was asked about.
        """
        calm = attrs.evolve(race, holds=(), faults=(), picks=())
        if self._needs_no_race is None:
            self._needs_no_race = self.breaches(attrs.evolve(calm, without=()))
        if self._needs_no_race:
            return False
        whole, rest = self._verdict(attrs.evolve(calm, without=())), self._verdict(calm)
        # If the rest raises, or may not be played any more, it is not known to keep them.
        return rest is not None and _breached(rest) <= (
            set() if whole is None else _breached(whole)
        )

    def _plainer(self, race: Race) -> Race:
        """Write each hold in the plainest way that still shows the breach."""
        for index in range(len(race.holds)):
            if not self._goes_on():
                break
            for plainer in self._plainer_holds(race, index):
                holds = (*race.holds[:index], plainer, *race.holds[index + 1 :])
                other = attrs.evolve(race, holds=holds)
                if self.breaches(other):
                    race = other
                    break
        return race

    def _plainer_moments(self, race: Race) -> Race:
        """Let each fault strike after the earliest request of its target that shows the breach."""
        for index, strike in enumerate(race.faults):
            if not isinstance(strike.moment, Pattern) or strike.operation is not None:
                continue
            if not self._goes_on():
                break
            self.runs += 1
            steps = [s for s in play(race, self.recipe).trace.steps if s.kind in CALM_ORDER]
            names = Names.in_steps(steps)
            served = [step.option for step in steps if step.kind == SERVE]
            theirs = [option for option in served if option.actor == aim(strike.target)]
            for moment in dict.fromkeys(names.of(option) for option in theirs):
                if moment == strike.moment:
                    break
                plainer = attrs.evolve(strike, when="after", moment=moment)
                faults = (*race.faults[:index], plainer, *race.faults[index + 1 :])
                if self.breaches(other := attrs.evolve(race, faults=faults)):
                    race = other
                    break
        return race

    def _plainer_holds(self, race: Race, index: int) -> Iterator[Hold]:
        """Yield other ways to write a hold, the plainest first, down to the one it has now.

        - Instead of a read, or of something that is no request: the writes of the same actor that
          follow in the Run, since a write tells a reader what the race is about.
        - Instead of any `until`: each request served and each delivery after the hold began, in the
          order of the Run, requests first.

        It stops at the hold as it stands: what comes behind is no plainer, and to try it would let
        the shrink go round in circles.
        """
        self.runs += 1
        hold = race.holds[index]
        steps = play(race, self.recipe).trace.steps
        names = Names.in_steps(steps)
        begun = next((n for n, step in enumerate(steps) if _holds(step, hold.what)), len(steps))
        after = steps[begun:]
        whats = [hold.what]
        if hold.what.kind != SERVE or hold.what.verb in READS:
            theirs = [names.of(step.option) for step in after if _is_request_of(step, hold.what)]
            later = [what for what in theirs if what and what.verb not in READS]
            whats = [*later[:REQUESTS_MAX], hold.what]
        effects = [step.option for kind in (SERVE, DELIVER) for step in after if step.kind == kind]
        untils = dict.fromkeys(names.of(option) for option in effects)
        for what in whats:
            for until in [*untils, hold.until]:
                if (what, until) == (hold.what, hold.until):
                    return
                if until != what:
                    yield Hold(what, until)


def _breached(verdict: Verdict) -> set[str]:
    """Return the claims that were breached; Undecided counts as one more, since any may be."""
    undecided = set() if verdict.is_held or verdict.is_violated else {verdict.outcome}
    return {violation.invariant for violation in verdict.violations} | undecided


def in_any_life(race: Race) -> Race:
    """Return the Race with no life in its lines: they fit in any life of their actors.

    If a crash is left out, the actor has fewer lives, and lines about its second life would match
    nothing, though what they name now happens in the first.
    """

    def any_life(moment: Any) -> Any:
        return attrs.evolve(moment, life=0) if isinstance(moment, Pattern) else moment

    return attrs.evolve(
        race,
        holds=tuple(Hold(any_life(hold.what), any_life(hold.until)) for hold in race.holds),
        faults=tuple(attrs.evolve(s, moment=any_life(s.moment)) for s in race.faults),
        picks=tuple(attrs.evolve(pick, life=0) for pick in race.picks),
    )


def _holds(step: Step, what: Pattern) -> bool:
    """Whether the Step holds back an Option that this Pattern names."""
    return step.kind == HOLD and what.fits(option_held(step.option))


def option_held(held: Option) -> Option:
    """Return the Option that a `hold` or a `release` in a trace is about, with its own kind."""
    return Option(held.label, held.path, _never, actor=held.actor).about(held.verb, held.key)


def _is_request_of(step: Step, what: Pattern) -> bool:
    return step.kind == SERVE and step.option.actor == what.who.partition("/")[0]


def _never() -> None:
    """Do nothing: an Option that only stands for another is never performed."""
