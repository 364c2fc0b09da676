"""Finding: one race that a search has found, shrunk and told. Findings: all of them, by cause.

Two breaches have one *cause* if the same claim is breached for the same reason, and the shrunk
races have the same shape: what is held until what, what fails when, what is picked, told without
the names of actors and objects. Of an actor that dies the reason says all there is.

To shrink every Run that breaches something would take longer than to find them. Of those that
breach the same claim under the same kinds of faults the 1st, 4th, 16th, 64th, … are: what is common
is told at once, and what hides behind it has its chance too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import chain, count
from typing import Any, Self

import attrs

from testbed.fault import Fault
from testbed.invariant import Violation
from testbed.races.pattern import Pattern
from testbed.races.race import Hold, Race, State, Strike, aim
from testbed.races.reason import is_told_by_reason, nameless, reason_of
from testbed.search.planned_run import Breach, Data, Outcome

NEXT_SHRUNK = 4
"""The next to be shrunk is so many times further on."""


@attrs.frozen
class Legal:
    """A fault that a race needs, and why it may happen."""

    fault: str
    """As a race file has it."""
    why: str


@attrs.frozen
class Finding:
    """One race."""

    name: str
    """Of its race file, without the end."""
    invariant: str
    said: str
    """What was breached, in a sentence."""
    cause: tuple[str, ...]
    race: str
    """The race file; empty if the Run could not be played again."""
    deviations: int
    """How many lines it has: what is late, what fails, what is picked."""
    window: str
    """How long what is late must be late; empty if it is a matter of order alone."""
    window_ms: int | None
    """How many lengths of it lead to the breach; None if it is as many as you like."""
    faults: tuple[Legal, ...]
    run: int
    chooser: str
    """Who played that Run."""
    runs: int
    """How many Runs were looked at until then, it among them."""
    level: str
    """What was complete by then."""
    not_shrunk: str = ""
    """Why it may take fewer lines than it has; empty if it was shrunk."""
    no_window: str = ""
    """Why its window is not known; empty if it is, or if it has none."""
    is_cut_off: bool = False
    """Whether it is not shrunk because nobody waited: it may be one that was found before."""

    def as_dict(self) -> Data:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: Data) -> Self:
        """What `as_dict` told of."""
        faults = tuple(Legal(**legal) for legal in data["faults"])
        return cls(**{**data, "cause": tuple(data["cause"]), "faults": faults})


def reason(breach: Breach) -> str:
    """What makes two breaches the same, as `shrink` sees it."""
    return reason_of(Violation(breach.invariant, breach.said, 0, 0))


def cause_of(race: Race, why: str) -> tuple[str, ...]:
    """The shape of a shrunk race: its lines without names, sorted; or the reason alone, where that
    says all there is."""
    if is_told_by_reason(why):
        return (why,)
    lines = [_hold(hold) for hold in race.holds]
    lines += [_strike(strike) for strike in race.faults]
    lines += [f"pick {picked.label}" for picked in race.picks]
    return (why, *sorted(nameless(line, _actors(race)) for line in lines))


def _actors(race: Race) -> set[str]:
    """Those its lines speak of."""
    said = [hold.what for hold in race.holds] + [hold.until for hold in race.holds]
    said += [strike.moment for strike in race.faults]
    patterns = [pattern for pattern in said if isinstance(pattern, Pattern)]
    states = [hold.until.who for hold in race.holds if isinstance(hold.until, State)]
    struck = [aim(strike.target) for strike in race.faults]
    picking = [picked.who.partition("/")[0] for picked in race.picks]
    return {*map(_actor, patterns), *states, *struck, *picking} - {"", "*"}


def _hold(hold: Hold) -> str:
    until = hold.until
    if isinstance(until, Pattern):
        whose = "its own" if _actor(until) == _actor(hold.what) else "another's"
        return f"hold {_shape(hold.what)} until {whose} {_shape(until)}"
    if isinstance(until, State):
        return f"hold {_shape(hold.what)} until {'up' if until.is_up else 'down'}"
    return f"hold {_shape(hold.what)} until {'a time' if isinstance(until, int) else 'quiet'}"


def _strike(strike: Strike) -> str:
    words = [strike.fault.word]
    if strike.operation is not None:
        words.append(_shape(strike.operation))
    if isinstance(strike.moment, Pattern):
        words += [strike.when, _shape(strike.moment)]
    return " ".join(words)


def _actor(pattern: Pattern) -> str:
    return pattern.who.partition("/")[0]


def _shape(pattern: Pattern) -> str:
    """Its kind, its verb, and the plural of what it is about."""
    return " ".join(
        word for word in (pattern.kind, pattern.verb, pattern.key.partition("/")[0]) if word
    )


def legality(race: Race) -> tuple[Legal, ...]:
    """Its faults, each with why it may happen: the first words of the file of its kind."""
    return tuple(Legal(str(strike), _why(type(strike.fault))) for strike in race.faults)


def _why(kind: type[Fault]) -> str:
    said = (inspect.getdoc(inspect.getmodule(kind)) or "").partition("\n\n")[0]
    return " ".join(said.removeprefix(f"{kind.word}: ").split())


class Findings:
    """The causes found so far, and how often each claim was breached."""

    def __init__(self, told: Callable[[Outcome, Breach, str], Finding]) -> None:
        self.found: list[Finding] = []
        """In the order in which they were found, one for each cause."""
        self.breaches: dict[str, int] = {}
        """By claim, how many Runs have breached it."""
        self._told = told
        self._alike: dict[Any, int] = {}
        self._causes: set[tuple[str, ...]] = set()

    def take(self, outcome: Outcome) -> list[Finding]:
        """One more Run that was violated; what is new about it."""
        new = []
        for breach in {reason(breach): breach for breach in outcome.breaches}.values():
            name = breach.invariant
            self.breaches[name] = self.breaches.get(name, 0) + 1
            if (reason(breach),) in self._causes or not self._is_to_be_shrunk(outcome, breach):
                continue
            finding = self._told(outcome, breach, self._name(name))
            if finding.cause in self._causes or (finding.is_cut_off and self._has_like(breach)):
                continue
            self._causes.add(finding.cause)
            self.found.append(finding)
            new.append(finding)
        return new

    def _has_like(self, breach: Breach) -> bool:
        return any(cause[0] == reason(breach) for cause in self._causes)

    def _is_to_be_shrunk(self, outcome: Outcome, breach: Breach) -> bool:
        alike = (reason(breach), tuple(sorted(outcome.faults)))
        count = self._alike[alike] = self._alike.get(alike, 0) + 1
        while count % NEXT_SHRUNK == 0:
            count //= NEXT_SHRUNK
        return count == 1

    def _name(self, invariant: str) -> str:
        """Of the next Finding about that claim; numbered from the second on."""
        taken = {finding.name for finding in self.found}
        numbered = (f"{invariant}-{number}" for number in count(2))
        return next(name for name in chain([invariant], numbered) if name not in taken)
