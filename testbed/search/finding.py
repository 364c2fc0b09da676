"""Finding: one race that a search has found and shrunk. Findings: all of them, one for each cause.

Two breaches have one *cause* if the same claim is breached for the same reason, and the shrunk
races have the same shape: what is held until what, which fault strikes when, what is picked, all
without the names of actors and objects. If an actor dies, the reason alone is the cause.

To shrink every violated Run would take longer than to find them. So of the Runs that breach the
same claim for the same reason under the same kinds of faults, only the 1st, 4th, 16th, 64th, … are
shrunk: a common race is reported at once, and a rarer one that looks like it gets its chance, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import chain, count
from typing import Any, Self

import attrs

from testbed.fault import Fault
from testbed.races.pattern import Pattern
from testbed.races.race import Hold, Race, State, Strike, aim
from testbed.races.reason import is_told_by_reason
from testbed.races.reason import reason as reason_by
from testbed.search.planned_run import Breach, Data, Outcome
from testbed.turns.found import NOTHING
from testbed.words import nameless

NEXT_SHRUNK = 4
"""Of violated Runs that look alike, only the 1st, 4th, 16th, … are shrunk."""


@attrs.frozen
class Legal:
    """A fault that a race needs, and why it may happen."""

    fault: str
    """The fault, as a race file writes it."""
    why: str


@attrs.frozen
class Finding:
    """One race that a search has found."""

    name: str
    """The name of its race file, without the suffix."""
    invariant: str
    said: str
    """What was breached, in a sentence."""
    cause: tuple[str, ...]
    """Two Findings never have the same; see above."""
    race: str
    """The race file; empty if the Run could not be played again."""
    deviations: int
    """How many lines the race has: holds, faults and picks."""
    window: str
    """How long the narrowest hold must last, in a sentence; empty if only the order matters."""
    window_ms: int | None
    """The width of that window in virtual milliseconds; None if it has no end, or none is known."""
    faults: tuple[Legal, ...]
    run: int
    chooser: str
    """The Chooser that played that Run."""
    runs: int
    """How many Runs were played until then, this one included."""
    level: str
    """Which level was complete by then."""
    not_shrunk: str = ""
    """Why the race may need fewer lines than it has; empty if it was shrunk to the end."""
    no_window: str = ""
    """Why its window is not known; empty if it is known, or if there is none."""
    is_cut_off: bool = False
    """Whether the shrink was cut off: then it may be a race that was found before."""
    reason: str = ""
    """Which kind of breach it is; empty if the claim names none."""
    about: Data = attrs.field(factory=NOTHING.as_dict)
    """The keys, fields and actors that it is about; none if the Run could not be played again."""

    def as_dict(self) -> Data:
        """Return it as plain data for JSON."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: Data) -> Self:
        """Make it again from what `as_dict` returned."""
        faults = tuple(Legal(**legal) for legal in data["faults"])
        return cls(**{**data, "cause": tuple(data["cause"]), "faults": faults})


def reason(breach: Breach) -> str:
    """Return the reason of a breach, which `shrink` keeps the same."""
    return reason_by(breach.invariant, breach.alike_by)


def cause_of(race: Race, why: str) -> tuple[str, ...]:
    """Return the cause: the reason, and the shape of the shrunk race, which is its lines without
    names, sorted; or the reason alone, where that says enough."""
    if is_told_by_reason(why):
        return (why,)
    lines = [_hold(hold) for hold in race.holds]
    lines += [_strike(strike) for strike in race.faults]
    lines += [f"pick {picked.label}" for picked in race.picks]
    return (why, *sorted(nameless(line, _actors(race)) for line in lines))


def _actors(race: Race) -> set[str]:
    """The actors that its lines name."""
    named = [hold.what for hold in race.holds] + [hold.until for hold in race.holds]
    named += [strike.moment for strike in race.faults]
    patterns = [pattern for pattern in named if isinstance(pattern, Pattern)]
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
    """Its kind, its verb, and the resource of its key."""
    return " ".join(
        word for word in (pattern.kind, pattern.verb, pattern.key.partition("/")[0]) if word
    )


def legality(race: Race) -> tuple[Legal, ...]:
    """Return its faults, each with why it may happen: the first paragraph of its kind's file."""
    return tuple(Legal(str(strike), _why(type(strike.fault))) for strike in race.faults)


def _why(kind: type[Fault]) -> str:
    paragraph = (inspect.getdoc(inspect.getmodule(kind)) or "").partition("\n\n")[0]
    why = " ".join(paragraph.removeprefix(f"{kind.word}: ").split())
    return why[:1].upper() + why[1:]


class Findings:
    """The causes found so far, and how often each claim was breached."""

    def __init__(self, make: Callable[[Outcome, Breach, str], Finding]) -> None:
        self.found: list[Finding] = []
        """One for each cause, in the order in which they were found."""
        self.breaches: dict[str, int] = {}
        """How many Runs have breached each claim."""
        self._make = make
        self._alike: dict[Any, int] = {}
        """How many Runs had the same reason and the same kinds of faults."""
        self._causes: set[tuple[str, ...]] = set()

    def take(self, outcome: Outcome) -> list[Finding]:
        """Take in one more violated Run; return the Findings that are new."""
        new = []
        for breach in {reason(breach): breach for breach in outcome.breaches}.values():
            name = breach.invariant
            self.breaches[name] = self.breaches.get(name, 0) + 1
            if (reason(breach),) in self._causes or not self._is_to_be_shrunk(outcome, breach):
                continue
            finding = self._make(outcome, breach, self._name(name))
            # One that was cut off still has lines that do not belong to its cause, so a cause that
            # seems new may be an old one: it counts only if nothing of that reason was found yet.
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
        """The name of the next Finding for that claim, numbered from the second on."""
        taken = {finding.name for finding in self.found}
        numbered = (f"{invariant}-{number}" for number in count(2))
        return next(name for name in chain([invariant], numbered) if name not in taken)
