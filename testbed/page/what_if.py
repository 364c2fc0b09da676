"""WhatIf: each line of the race left out, the guard turned on: what the Run shows then.

1. Each line that was tried is left out once more, and the Run of the others is kept.
2. Each expectation of the race file with other switches is played under these. If none of them has
   turned the guard, it is turned as well.
3. If the same breach no longer shows, the line is needed, or the switch keeps the race away.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.objects.codec import encode_line
from testbed.objects.meta import Map
from testbed.page.run_data import said_of
from testbed.page.subject import PageSubject
from testbed.races.playing import play
from testbed.races.race import Expectation
from testbed.races.reason import same_as
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict, Violation
from testbed.world.scenario import GUARD

DEVIATION, SWITCH = "deviation", "switch"


@attrs.frozen
class Flip:
    """One thing that was turned, and the Run that came of it."""

    said: str
    kind: str
    is_needed: bool
    trace: Trace
    verdict: Verdict
    shown: str

    @property
    def name(self) -> str:
        """What the Run is called."""
        return f"without {self.said}" if self.kind == DEVIATION else f"with {self.said}"


def flips(subject: PageSubject) -> Iterator[Flip]:
    """All that was turned, the lines of the race first."""
    violation = subject.violation
    if violation is None or subject.verdict.attended:
        return
    lines = subject.race.lines
    for tried in subject.tried:
        others = [line for line in lines if line is not tried.deviation]
        played = play(subject.race.having(others), subject.recipe)
        shown = shown_of(played.verdict, violation)
        needed = tried.is_necessary
        yield Flip(str(tried.deviation), DEVIATION, needed, played.trace, played.verdict, shown)
    is_same = same_as(violation, subject.recipe.named(subject.race.switches))
    for expected in _otherwise(subject):
        goes_on = bool(expected.holds)
        played = play(subject.race, subject.recipe, switches=expected.switches, goes_on=goes_on)
        shown = shown_of(played.verdict, violation)
        needed = not any(map(is_same, played.verdict.violations))
        yield Flip(expected.under, SWITCH, needed, played.trace, played.verdict, shown)


def _otherwise(subject: PageSubject) -> Iterator[Expectation]:
    """The expectations with other switches than those of the Run, and the guard."""
    recipe, given = subject.recipe, subject.race.switches
    seen = [recipe.values(given)]
    expectations = list(subject.race.expect)
    if recipe.has_guard:
        turned = recipe.switches[GUARD].another(seen[0][GUARD])
        expectations.append(Expectation(Map({GUARD: str(turned)})))
    for expected in expectations:
        values = recipe.values({**given, **expected.switches})
        if values not in seen:
            seen.append(values)
            yield expected


def shown_of(verdict: Verdict, violation: Violation) -> str:
    """What a Run has shown, in a sentence; `violation` is the breach of the Run that is told."""
    found = verdict.violations
    if not found:
        return said_of(verdict, None)
    of_claim = [each for each in found if each.invariant == violation.invariant]
    first = next(iter(of_claim), found[0])
    other = "" if of_claim else f"{violation.invariant} is not broken, but "
    return f"{other}{first.invariant} is: {first.said}" if other else first.said


def body_of(trace: Trace) -> tuple[bytes, ...]:
    """All that happened in a kept Run, to tell whether two Runs are the same."""
    return tuple(encode_line(item.line()) for item in trace.items)
