"""Shrink: leaves out of a Race all that its breach does not need, and nothing that is its cause.

It begins with the Race of a whole Run, which has every deviation as a line of its own.

1. Fewer faults. They go first, because a fault drags many lines along: what follows from a crash is
   gone together with it.
2. Fewer holds, then fewer picks: all of them at once, then half of them, …, then one by one.
3. Plainer holds: of a write instead of what leads to it, and until something that takes effect, as
   early as possible. Then plainer moments of faults. This can make other lines unnecessary.
4. From 1 again, until a whole pass changes nothing.
5. If no fault and more than one line is left: the first Runs with fewer deviations are tried. What
   two lines do in one Run, one may do in another, but no line of this Race can just be left out.
6. Only then are actors and objects left out, and the lines stay (see `leaving_out.py`). So the
   lines breach the claim in the whole World, too: none of them leans on what is not there.
7. The result is played twice more, to be sure that it repeats.

A change is kept if the Race still shows the same breach: of the same claim, for the same reason,
naming the same actors and objects (see `reason.py`). Without that, a shrink could slip from a rare
bug to a common one. Steps 1 and 2 only ever remove, and step 3 only takes a candidate that stands
before the current one in its list, so a pass that changes nothing comes soon; its Limits end it in
any case. Nothing depends on chance or time, so the same Race always gives the same result, unless
`is_over` cuts it off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from testbed.choosers.bounded import Deviating, Frontier
from testbed.errors import ScenarioError
from testbed.invariant import Verdict, Violation
from testbed.objects.event import Event
from testbed.races.leaving_out import LeavingOut
from testbed.races.noting import Names
from testbed.races.pattern import Pattern
from testbed.races.playing import Played, play, race_of
from testbed.races.race import Expectation, Hold, Race, aim
from testbed.races.trying import Limits, Trying
from testbed.store.change import plural_of
from testbed.store.store_endpoint import READS
from testbed.turns.imprint import check_steps, diverged, twice_line
from testbed.turns.option import DELIVER, HOLD, SERVE, Option
from testbed.turns.pending import CALM_ORDER
from testbed.turns.trace import Step
from testbed.world.scenario import Scenario

BELOW_MAX = 150
"""How many Runs with fewer deviations are tried."""
ATTENDED_MAX = 5
"""How often a race is played with real programs until its breach shows again."""
REQUESTS_MAX = 3
"""How many writes that follow from what is held are tried in its place."""


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


def shrink(
    race: Race, recipe: Scenario, *, invariant: str = "", limits: Limits | None = None
) -> Shrunk:
    """Find the smallest Race for the first claim that this one breaches, or for the one named.

    `race_of` makes the Race of a recorded Run. At a limit the smallest Race so far is returned.
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
    shrinker = _Shrinker(trying)
    small = shrinker.shrink(in_the_whole_world(attrs.evolve(race, expect=()), trying))
    while (fewer := shrinker.below(small)) is not None:
        small = shrinker.shrink(fewer)
    # With real programs no other Run is just the same, so none can tell what plays no part.
    if recipe.attendance is None:
        small = LeavingOut(trying, small).race()
    last, found = shrinker.again(small)
    expect = (Expectation(violates=violation.invariant),)
    return Shrunk(attrs.evolve(small, expect=expect), found, last, trying.runs, trying.cut_off)


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


class _Shrinker:
    """Makes the lines of one Race fewer and plainer."""

    def __init__(self, trying: Trying) -> None:
        self._trying = trying

    def shrink(self, race: Race) -> Race:
        """Leave out and simplify, pass by pass, until a pass changes nothing."""
        while True:
            before = race.text()
            race = self._fewer(race, "faults")
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
        trying = self._trying
        if len(race) < 2 or race.faults or trying.recipe.attendance is not None:
            return None
        frontier = Frontier(faults_max=0, deviations_max=len(race) - 1)
        for _ in range(BELOW_MAX):
            plan = frontier.next()
            if plan is None or trying.cut_off:
                break
            chooser = Deviating(
                plan, faults_max=frontier.faults_max, deviations_max=frontier.deviations_max
            )
            world = trying.run(race, chooser)
            # Also if it has raised: with one more deviation it may not.
            frontier.told(chooser.children)
            if world is None or world.verdict is None:
                continue
            if trying.breach_in(world.verdict) is not None:
                choices, without = world.trace.choices, race.without
                fewer = race_of(trying.recipe, race.switches, choices, without=without)
                if len(fewer) < len(race) and trying.breaches(fewer):
                    return fewer
        return None

    def again(self, race: Race) -> tuple[Played, Violation]:
        """Play it twice more, or once if time is up; a breach that does not repeat is an error."""
        trying = self._trying
        if trying.recipe.attendance is not None:
            return self._again_attended(race)
        again = twice_line(trying.recipe.world(race.switches))
        found: list[tuple[Played, Violation]] = []
        for _ in range(1 if trying.cut_off else 2):
            trying.runs += 1
            played = play(race, trying.recipe)
            if found:
                check_steps(found[-1][0].trace.steps, played.trace.steps, again)
            if (violation := trying.breach_in(played.verdict)) is None:
                said = f"it breached {trying.reason} once, and does not now"
                raise diverged(None, "the shrunk race", said, again)
            found.append((played, violation))
        return found[-1]

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

    def _fewer(self, race: Race, field: str) -> Race:
        """Leave out neighbouring lines: all of them, then half as many, …, then single lines.

        Neighbouring lines often belong together, such as a hold and those that follow from it.
        A line that must stay when others are there may go once they are gone, so what is kept is
        tried again with each shorter length, and in the next pass.
        """
        length = len(getattr(race, field))
        while length:
            start = 0
            while start < len(lines := getattr(race, field)) and not self._trying.cut_off:
                fewer = attrs.evolve(race, **{field: lines[:start] + lines[start + length :]})
                smaller = next(filter(self._trying.breaches, (fewer, in_any_life(fewer))), None)
                if smaller is not None:
                    race = smaller
                else:
                    start += length
            length //= 2
        return race

    def _plainer(self, race: Race) -> Race:
        """Write each hold in the plainest way that still shows the breach."""
        for index in range(len(race.holds)):
            if (played := self._trying.kept(race)) is None:
                break
            for plainer in self._plainer_holds(race, index, played.trace.steps):
                holds = (*race.holds[:index], plainer, *race.holds[index + 1 :])
                other = attrs.evolve(race, holds=holds)
                if self._trying.breaches(other):
                    race = other
                    break
        return race

    def _plainer_moments(self, race: Race) -> Race:
        """Let each fault strike after the earliest request of its target that shows the breach."""
        for index, strike in enumerate(race.faults):
            if not isinstance(strike.moment, Pattern) or strike.operation is not None:
                continue
            if (played := self._trying.kept(race)) is None:
                break
            steps = [step for step in played.trace.steps if step.kind in CALM_ORDER]
            names = Names.in_steps(steps)
            served = [step.option for step in steps if step.kind == SERVE]
            theirs = [option for option in served if option.actor == aim(strike.target)]
            for moment in dict.fromkeys(names.of(option) for option in theirs):
                if moment == strike.moment:
                    break
                plainer = attrs.evolve(strike, when="after", moment=moment)
                faults = (*race.faults[:index], plainer, *race.faults[index + 1 :])
                if self._trying.breaches(other := attrs.evolve(race, faults=faults)):
                    race = other
                    break
        return race

    def _plainer_holds(self, race: Race, index: int, steps: Sequence[Step]) -> Iterator[Hold]:
        """Yield other ways to write a hold, the plainest first, down to the one it has now.

        - Instead of a read, or of something that is no request: the writes of the same actor that
          follow in the Run, since a write tells a reader what the race is about.
        - Instead of a whole watch: the news of one object that changed meanwhile. How long it is
          late counts from that change, and not from the time when the watch was to be opened.
        - Instead of any `until`: each request served and each delivery after the hold began, in the
          order of the Run, requests first; what a person would not name so comes last.

        It stops at the hold as it stands: what comes behind is no plainer, and to try it would let
        the shrink go round in circles.
        """
        hold = race.holds[index]
        names = Names.in_steps(steps)
        begun = next((n for n, step in enumerate(steps) if _holds(step, hold.what)), len(steps))
        after = steps[begun:]
        whats = [hold.what]
        if hold.what.kind != SERVE or hold.what.verb in READS:
            theirs = [names.of(step.option) for step in after if _is_request_of(step, hold.what)]
            later = [what for what in theirs if what and what.verb not in READS]
            whats = [*later[:REQUESTS_MAX], *_news(hold.what, after)[:REQUESTS_MAX], hold.what]
        effects = [step.option for kind in (SERVE, DELIVER) for step in after if step.kind == kind]
        # What a person would name first: no Event, whose name is a hash, and no second of anything.
        named = dict.fromkeys(names.of(option) for option in effects)
        untils = sorted(named, key=lambda until: until is None or not is_plain(until))
        for what in whats:
            for until in [*untils, hold.until]:
                if (what, until) == (hold.what, hold.until):
                    return
                if until != what:
                    yield Hold(what, until)


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


def is_plain(until: Pattern) -> bool:
    """Whether a person would name it so: it is no Event, and not the second of its kind."""
    return until.nth == 1 and not until.key.startswith(f"{Event.plural}/")


def _holds(step: Step, what: Pattern) -> bool:
    """Whether the Step holds back an Option that this Pattern names."""
    return step.kind == HOLD and what.fits(option_held(step.option))


def option_held(held: Option) -> Option:
    """Return the Option that a `hold` or a `release` in a trace is about, with its own kind."""
    return Option(held.label, held.path, _never, actor=held.actor).about(held.verb, held.key)


def _news(watch: Pattern, after: Sequence[Step]) -> list[Pattern]:
    """The news that this watch would have brought, if it is one."""
    if watch.verb != "watch":
        return []
    changes = (change.key for step in after for change in step.marks.changes)
    keys = [key for key in changes if plural_of(key) == plural_of(watch.key)]
    return [Pattern(DELIVER, watch.who, key=key, life=watch.life) for key in dict.fromkeys(keys)]


def _is_request_of(step: Step, what: Pattern) -> bool:
    return step.kind == SERVE and step.option.actor == what.who.partition("/")[0]


def _never() -> None:
    """Do nothing: an Option that only stands for another is never performed."""
