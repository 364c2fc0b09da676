"""Shrink: from a Run that breaches a claim to the few deviations it takes, for the same breach.

1. The Run as a Race: every deviation of it, one line each.
2. Fewer faults: each is left out that the breach does not need, and what comes of it with it.
3. Fewer actors and objects: what can be left out of the World is, as long as the calm run of the
   rest keeps every claim that the calm run of the whole keeps: else the rest would be wrong by
   itself, and what is left no race.
4. Fewer holds and picks: halves first, then one by one, until none can go.
5. Plainer holds: of a write rather than of what leads to it, and until something that takes effect,
   as early as will do.
6. If more than one line is left, and no fault: the levels below it, as far as a few Runs go; what
   two lines do in one Run, one may do in another.
7. The result is played twice more, so that what is kept is known to repeat.

A change stands if the same claim is breached for the same reason, and something got smaller by it:
that ends, and gives one result for one Run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from testbed.choosers.bounded import Deviating, Frontier
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.invariant import Verdict, Violation
from testbed.races.pattern import Pattern
from testbed.races.playing import Names, Played, play, race_of
from testbed.races.race import Expectation, Hold, Race, aim
from testbed.races.reason import reason_of
from testbed.turns.option import CALM_ORDER, DELIVER, HOLD, SERVE, Choice, Option
from testbed.turns.trace import Step
from testbed.words import counted
from testbed.world.scenario import Scenario

RUNS_MAX = 2000
"""So many Runs one shrink may take."""
BELOW_MAX = 150
"""So many Runs the levels below a result are given."""
REQUESTS_MAX = 3
"""So many writes that follow from what is held are tried in its place."""
READS = ("get", "list", "watch")


@attrs.frozen
class Shrunk:
    """The smallest Race found for a breach."""

    race: Race
    """With the breach as what it is expected to show."""
    violation: Violation
    played: Played
    """Its Run, with its trace kept."""
    runs: int
    """How many it took to find."""
    cut_off: str = ""
    """Why it stopped where it did; empty if there was nothing more to leave out."""


def shrink(
    recipe: Scenario,
    switches: Mapping[str, Any],
    choices: Sequence[Choice],
    *,
    faults: Iterable[Fault] = (),
    invariant: str = "",
    runs_max: int = RUNS_MAX,
    on_run: Callable[[int, int], None] = lambda runs, size: None,
    is_over: Callable[[], bool] = bool,
) -> Shrunk:
    """The smallest Race for what that Run breaches first, or for the claim that is named; or as
    small as it was when time was up, which is asked before each Run."""
    race = race_of(recipe, switches, choices, faults=faults)
    return shrink_race(
        race, recipe, invariant=invariant, runs_max=runs_max, on_run=on_run, is_over=is_over
    )


def shrink_race(
    race: Race,
    recipe: Scenario,
    *,
    invariant: str = "",
    runs_max: int = RUNS_MAX,
    on_run: Callable[[int, int], None] = lambda runs, size: None,
    is_over: Callable[[], bool] = bool,
) -> Shrunk:
    """The smallest Race for what that one breaches."""
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
    """The first Violation, or that of a claim."""
    for violation in verdict.violations:
        if not invariant or violation.invariant == invariant:
            return violation
    return None


class _Shrinker:
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
        """Why no more is played; empty as long as it is."""
        self._needs_no_race: bool | None = None
        """Whether the calm run of the whole breaches the claim; None until that is asked."""
        self._on_run = on_run
        self._is_over = is_over
        self._known: dict[str, Verdict | None] = {}

    def fails(self, race: Race) -> bool:
        """Whether it breaches the same claim for the same reason."""
        verdict = self._verdict(race)
        return verdict is not None and any(
            reason_of(violation) == self.reason for violation in verdict.violations
        )

    def _verdict(self, race: Race) -> Verdict | None:
        """What it comes to; None if it raises, or if no more may be played."""
        if not self._goes_on():
            return None
        text = race.text()
        if text not in self._known:
            self.runs += 1
            self._on_run(self.runs, len(race))
            self._known[text] = self._played(race)
        return self._known[text]

    def _goes_on(self) -> bool:
        """Whether one more may be played."""
        if not self.cut_off and self._is_over():
            self.cut_off = "time is up"
        if not self.cut_off and self.runs >= self.runs_max:
            self.cut_off = f"after {counted(self.runs, 'run')}"
        return not self.cut_off

    def _played(self, race: Race) -> Verdict | None:
        """What is left out may be what a claim, or another actor, cannot do without."""
        try:
            return play(race, self.recipe, keep=False).verdict
        except Exception:  # noqa: BLE001 - the scenario's own; it only means that this is no smaller
            return None

    def shrink(self, race: Race) -> Race:
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
        """A Race with fewer deviations for the same breach, if the first Runs of a bounded search
        have one."""
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
                if len(fewer) < len(race) and self.fails(fewer):
                    return fewer
            frontier.told(chooser.children)
        return None

    def again(self, race: Race) -> tuple[Played, Violation]:
        """Play it twice more, or once if time is up: what breaches a claim once only is not worth
        keeping."""
        for _ in range(1 if self.cut_off else 2):
            self.runs += 1
            played = play(race, self.recipe)
            violations = [v for v in played.verdict.violations if reason_of(v) == self.reason]
            if not violations:
                raise ScenarioError(
                    f"the shrunk race breaches {self.reason} once, and then does not: something "
                    "outside the World decides.\n"
                    f"Next: testbed run {self.recipe.name} --twice, which names what moved last."
                )
        return played, violations[0]

    def _fewer(self, race: Race, field: str) -> Race:
        """Leave out runs of lines, long ones first: half of them, a quarter, …, one."""
        length = len(getattr(race, field))
        while length:
            start = 0
            while start < len(lines := getattr(race, field)) and not self.cut_off:
                fewer = attrs.evolve(race, **{field: lines[:start] + lines[start + length :]})
                fits = next(filter(self.fails, (fewer, in_any_life(fewer))), None)
                if fits is not None:
                    race = fits
                else:
                    start += length
            length //= 2
        return race

    def _without(self, race: Race) -> Race:
        """Leave out actors, then objects; many at once first."""
        world = self.recipe.world(race.switches, without=race.without)
        for names in (sorted(world.table.roles), [e.key for e in world.store.snapshot("")]):
            left = names
            length = len(left)
            while length:
                start = 0
                while start < len(left) and not self.cut_off:
                    some = tuple(left[start : start + length])
                    fewer = attrs.evolve(race, without=(*race.without, *some))
                    if self.fails(fewer) and self._takes_a_race(fewer):
                        race, left = fewer, left[:start] + left[start + length :]
                    else:
                        start += length
                length //= 2
        return race

    def _takes_a_race(self, race: Race) -> bool:
        """Whether what is left of the World keeps, when nothing deviates, all claims that the whole
        keeps then. If the whole does not keep the one looked at, nothing is left out: what remains
        would say nothing of it."""
        calm = attrs.evolve(race, holds=(), faults=(), picks=())
        if self._needs_no_race is None:
            self._needs_no_race = self.fails(attrs.evolve(calm, without=()))
        if self._needs_no_race:
            return False
        whole, rest = self._verdict(attrs.evolve(calm, without=())), self._verdict(calm)
        # What raises, or is not played any more, is not known to keep them.
        return rest is not None and _broken(rest) <= (set() if whole is None else _broken(whole))

    def _plainer(self, race: Race) -> Race:
        for index in range(len(race.holds)):
            if not self._goes_on():
                break
            for plainer in self._plainer_holds(race, index):
                holds = (*race.holds[:index], plainer, *race.holds[index + 1 :])
                other = attrs.evolve(race, holds=holds)
                if self.fails(other):
                    race = other
                    break
        return race

    def _plainer_moments(self, race: Race) -> Race:
        """Let each fault strike after something that its target asked for, if that will do."""
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
                if self.fails(other := attrs.evolve(race, faults=faults)):
                    race = other
                    break
        return race

    def _plainer_holds(self, race: Race, index: int) -> Iterator[Hold]:
        """Other ways to write a hold, the plainest first, down to the one that stands."""
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


def _broken(verdict: Verdict) -> set[str]:
    """The claims that it says were breached; a Run that is undecided may breach any."""
    undecided = set() if verdict.is_held or verdict.is_violated else {verdict.outcome}
    return {violation.invariant for violation in verdict.violations} | undecided


def in_any_life(race: Race) -> Race:
    """The same Race, whichever life of an actor its lines speak of: the crash between two of them
    may be what was left out."""

    def any_life(moment: Any) -> Any:
        return attrs.evolve(moment, life=0) if isinstance(moment, Pattern) else moment

    return attrs.evolve(
        race,
        holds=tuple(Hold(any_life(hold.what), any_life(hold.until)) for hold in race.holds),
        faults=tuple(attrs.evolve(s, moment=any_life(s.moment)) for s in race.faults),
        picks=tuple(attrs.evolve(pick, life=0) for pick in race.picks),
    )


def _holds(step: Step, what: Pattern) -> bool:
    """Whether it holds something back of which a race file may say that."""
    return step.kind == HOLD and what.fits(unheld(step.option))


def unheld(held: Option) -> Option:
    """What a `hold` or a `release` in a trace is about, as an Option of its own kind."""
    return Option(held.label, held.path, _never, actor=held.actor).about(held.verb, held.key)


def _is_request_of(step: Step, what: Pattern) -> bool:
    return step.kind == SERVE and step.option.actor == what.who.partition("/")[0]


def _never() -> None:
    """What stands for an Option is not performed."""
