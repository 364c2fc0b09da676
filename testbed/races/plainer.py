"""Plainer: writes each line of a Race as plainly as its breach allows.

A hold is plainer if it is of a write, or of the news of one object, and if it lasts until something
that a person would name, as early as possible. A fault is plainer if it strikes early.

Each candidate before the present one is tried in its order, unless it comes to the same as one that
was tried: see `passing.py` for holds. If a fault ends a life, it comes to the same after a request
and after a later one, if its target has written nothing between them and no time has passed. At
most RUNS_MAX Runs are spent on a Race; its lines are then left as they are, which is no less true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import attrs

from testbed.objects.event import Event
from testbed.races.noting import Names
from testbed.races.passing import PassedHold, passing
from testbed.races.pattern import Pattern
from testbed.races.playing import Played
from testbed.races.race import Hold, Race, Strike, Until, aim
from testbed.races.trying import Trying
from testbed.store.change import plural_of
from testbed.store.store_endpoint import READS
from testbed.turns.option import DELIVER, FAULT, HOLD, SERVE, START, Option
from testbed.turns.trace import Step

T = TypeVar("T")
RUNS_MAX = 24
"""How many Runs are spent on the lines of one Race."""
UNTIL = 110
"""No more are when the shrink has played so many."""
REQUESTS_MAX = 3
"""How many writes that follow from what is held are tried in its place; and how many requests that
follow a fault in place of its moment."""
TURNS_TIMES, TURNS_MORE = 10, 2_000
"""How many turns a Run may have, beside that of the Race as it is. One that needs so many more goes
round, and is no plainer."""
EARLIEST_MAX = 12
"""How many of the earliest moments of a fault are tried one after the other; then the last before
it strikes, and others by bisection."""


class Plainer:
    """Makes the lines of Races plainer, within RUNS_MAX Runs."""

    def __init__(self, trying: Trying) -> None:
        self._trying = trying
        self._left = RUNS_MAX
        self._turns_max: int | None = None
        """How many turns a Run may have that shows whether a line may be otherwise."""

    def race(self, race: Race) -> Race:
        """Return the Race with each hold, and then each fault, written as plainly as it may be."""
        # Where something is held until all is quiet, others may go round, and there is no end.
        if (played := self._kept(race)) is not None:
            self._turns_max = TURNS_TIMES * played.verdict.turns + TURNS_MORE
        for index in range(len(race.holds)):
            if index < len(race.holds):
                race = self._plainer_hold(race, index)
        for index in range(len(race.faults)):
            if index < len(race.faults):
                race = self._plainer_moment(race, index)
        return race

    # -- holds ----------------------------------------------------------------------------------

    def _plainer_hold(self, race: Race, index: int) -> Race:
        """Write that hold otherwise, the plainest way first, down to the one it has now.

        - Instead of a read, or of something that is no request: the writes of the same actor that
          follow in the Run, since a write tells a reader what the race is about.
        - Instead of a whole watch: the news of one object that changed meanwhile. How long it is
          late counts from that change, and not from the time when the watch was to be opened.
        - Instead of any `until`: each request served and each delivery that passes the hold, in the
          order of the Run, requests first; what a person would not name so comes last.

        It stops at the hold as it stands: what comes behind is no plainer, and to try it would let
        the shrink go round in circles.
        """
        if (played := self._kept(race)) is None:
            return race
        for what in _whats(race.holds[index].what, played.trace.steps):
            if (plainer := self._until(race, index, what)) is not None:
                return plainer
        return race

    def _until(self, race: Race, index: int, what: Pattern) -> Race | None:
        """Return the Race with a hold of that in the place of one of its own, until the plainest
        end that shows the breach; None if none does that is plainer than its own."""
        hold = race.holds[index]
        quiet = self._kept(_holding(race, index, what, None))
        passed = None if quiet is None else passing(quiet, index)
        if quiet is None or passed is None:
            return None
        likewise = _holding(race, index, what, hold.until)
        failed = set() if self._trying.breach_in(quiet.verdict) else {passed.last}
        if failed and what != hold.what and not self._breaches(likewise):
            return None
        ends = _ends(passed, Names.in_steps(quiet.trace.steps))
        for until, stretch in ends.items():
            if (what, until) == (hold.what, hold.until):
                return None
            if until == what or stretch in failed:
                continue
            other = _holding(race, index, what, until)
            if self._breaches(other):
                return self._trying.core(other)
            failed.add(stretch)
        if what != hold.what and self._breaches(likewise):
            return self._trying.core(likewise)
        return None

    # -- faults ---------------------------------------------------------------------------------

    def _plainer_moment(self, race: Race, index: int) -> Race:
        """Let that fault strike after the earliest request of its target that shows the breach."""
        strike = race.faults[index]
        if not isinstance(strike.moment, Pattern) or strike.operation is not None:
            return race
        if (played := self._kept(race)) is None:
            return race
        before, after = _moments(strike, played.trace.steps)
        races = [_striking(race, index, moment) for moment in before]
        for other in races[:EARLIEST_MAX]:
            if self._breaches(other):
                return self._trying.core(other)
        # Between one that does not show the breach and one that does, by bisection.
        low, high, found = EARLIEST_MAX, len(races), race
        middle = high - 1
        while low < high:
            if self._breaches(races[middle]):
                high, found = middle, self._trying.core(races[middle])
            else:
                low = middle + 1
            middle = (low + high) // 2
        if found is race:
            # What was sent before it struck may have taken effect after it.
            others = (_striking(race, index, moment) for moment in after[:REQUESTS_MAX])
            found = next((self._trying.core(o) for o in others if self._breaches(o)), race)
        return found

    # -- within its Runs ------------------------------------------------------------------------

    def _kept(self, race: Race) -> Played | None:
        return self._counted(partial(self._trying.kept, turns_max=self._turns_max), race)

    def _breaches(self, race: Race) -> bool:
        return bool(self._counted(partial(self._trying.breaches, turns_max=self._turns_max), race))

    def _counted(self, ask: Callable[[Race], T], race: Race) -> T | None:
        """Ask that of a Race, unless all Runs are spent."""
        if self._left <= 0 or not self._trying.has_room(UNTIL):
            return None
        before = self._trying.runs
        answer = ask(race)
        self._left -= self._trying.runs - before
        return answer


def _holding(race: Race, index: int, what: Pattern, until: Until) -> Race:
    """The Race with another hold in the place of that one."""
    holds = (*race.holds[:index], Hold(what, until), *race.holds[index + 1 :])
    return attrs.evolve(race, holds=holds)


def _whats(what: Pattern, steps: Sequence[Step]) -> list[Pattern]:
    """What may be held instead of this, the plainest first, and it itself as the last."""
    if what.kind == SERVE and what.verb not in READS:
        return [what]
    names = Names.in_steps(steps)
    begun = next((n for n, step in enumerate(steps) if holds(step, what)), len(steps))
    after = steps[begun:]
    theirs = [names.of(step.option) for step in after if _is_request_of(step, what)]
    later = [each for each in theirs if each and each.verb not in READS]
    return [*later[:REQUESTS_MAX], *_news(what, after)[:REQUESTS_MAX], what]


def _ends(passed: PassedHold, names: Names) -> dict[Pattern, int]:
    """What may end a hold, the plainest first, each with its stretch: no Event, whose name is a
    hash, and no second of anything, if there is something else."""
    named: dict[Pattern, int] = {}
    for kind in (SERVE, DELIVER):
        for end in passed.ends:
            if end.option.kind == kind and (until := names.of(end.option)) is not None:
                named.setdefault(until, end.stretch)
    return {until: named[until] for until in sorted(named, key=_is_odd)}


def _striking(race: Race, index: int, moment: Pattern) -> Race:
    """The Race in which that fault strikes after that."""
    faults = list(race.faults)
    faults[index] = attrs.evolve(faults[index], when="after", moment=moment)
    return attrs.evolve(race, faults=tuple(faults))


def _moments(strike: Strike, steps: Sequence[Step]) -> tuple[list[Pattern], list[Pattern]]:
    """The requests of its target after which it may strike instead, up to its own moment, in order:
    those before it struck in this Run, and those after it."""
    names, target = Names.in_steps(steps), aim(strike.target)
    struck = next((n for n, s in enumerate(steps) if _strikes(s, strike)), len(steps))
    # What is forgotten anyway makes no difference. But who lives on remembers each answer.
    forgets = any(s.kind == START and s.option.path == f"{target}/main" for s in steps[struck:])
    before: dict[tuple[int, int], Pattern] = {}
    after: list[Pattern] = []
    written = 0
    for place, step in enumerate(steps):
        if step.kind != SERVE or step.option.actor != target:
            continue
        if (moment := names.of(step.option)) is None or moment == strike.moment:
            break
        if place > struck:
            after.append(moment)
            continue
        written += not forgets or bool(step.marks.changes) or step.option.verb == "watch"
        before.setdefault((written, step.now_ms), moment)
    return [*before.values()], after


def _strikes(step: Step, strike: Strike) -> bool:
    return step.kind == FAULT and bool(step.option.fault == strike.fault)


def is_plain(until: Pattern) -> bool:
    """Whether a person would name it so: it is no Event, and not the second of its kind."""
    return until.nth == 1 and not until.key.startswith(f"{Event.plural}/")


def _is_odd(until: Pattern) -> bool:
    return not is_plain(until)


def holds(step: Step, what: Pattern) -> bool:
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
