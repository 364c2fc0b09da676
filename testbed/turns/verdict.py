"""Violation: one breach of a claim, a value. Verdict: what a Run has shown."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.code.quick import quick
from testbed.turns.found import NOTHING, About, ByWords, Found, named_in
from testbed.words import counted, names_of

UNTRIED = "nothing was tried"
"""Begins the reason of a verdict that is Undecided since nothing could break."""


@quick
@attrs.frozen
class Violation:
    """One breach of one claim."""

    invariant: str
    said: str
    """What was found, in a sentence."""
    step: int
    """The turn after which it was found."""
    now_ms: int
    reason: str = ""
    """Which kind of breach it is, one of `REASONS`; empty if the claim names none."""
    since: int | None = attrs.field(default=None, eq=False)
    """The revision since which it has been so, if the claim knows it."""
    alike_by: str = ""
    """By what it is the same as another breach of its claim, as in `Found`."""
    _about: About | ByWords | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def about(self) -> About:
        """The objects, fields and actors that it is about."""
        about = self._about
        return about.about() if isinstance(about, ByWords) else about or NOTHING

    def among(self, keys: Iterable[str], actors: Iterable[str]) -> About:
        """Return which of these objects and actors it is about. Where its claim says no more than a
        sentence, they may be others than its World had by then: what was only asked for, say."""
        about = self._about
        if not isinstance(about, About):
            return attrs.evolve(named_in(self.said, keys, actors), fields=self.about.fields)
        among, acting = frozenset(keys), frozenset(actors)
        return About(
            (key for key in about.keys if key in among),
            about.fields,
            (name for name in about.actors if name in acting),
        )

    @property
    def found(self) -> Found:
        """What its claim has found, once more."""
        return Found(self.said, self.about, self.reason, self.since, self.alike_by)

    def __str__(self) -> str:
        return f"{self.invariant}: {self.said} (step {self.step}, {self.now_ms} ms)"


def up_to(until_ms: int | None) -> str:
    """What is said after *Held* of what was only played up to a time; empty if it was not."""
    return "" if until_ms is None else f" up to {until_ms:,} ms"


@quick
@attrs.frozen
class Verdict:
    """What one Run has shown, and how much of it was looked at. It never claims more than that."""

    outcome: str
    """held, violated or undecided."""
    end: str
    """Why the Run ended: quiet, stuck, violated, cut, a limit, interrupted."""
    violations: tuple[Violation, ...]
    turns: int
    virtual_ms: int
    faults: int
    """How many faults struck."""
    chooser: str
    note: str = ""
    """What the Chooser says of this Run, such as that it stopped drawing, and what claims say that
    they could not judge."""
    attended: tuple[str, ...] = ()
    """The actors in place of which real programs took part, and the guests. Another Run of the same
    choices may end otherwise, since a program's own timers and threads are not chosen here."""
    until_ms: int | None = None
    """The time up to which it was played and judged, if timers were left that are due later."""
    nothing: str = ""
    """Why nothing was tried in this Run, though it breached nothing; empty if something was."""
    waiting: tuple[str, ...] = ()
    """The tasks that still had timers when the Run was over."""

    @property
    def is_held(self) -> bool:
        """Nothing that was claimed was breached, and the Run came to its end."""
        return self.outcome == "held"

    @property
    def is_violated(self) -> bool:
        """At least one claim was breached."""
        return self.outcome == "violated"

    @property
    def why(self) -> str:
        """Why the Run did not decide: why nothing was tried, or the limit that it came to."""
        return f"{UNTRIED}: {self.nothing}" if self.nothing else self.end

    @property
    def among_others(self) -> str:
        """The outcome, for a search that plays many Runs: one in which nothing was tried breaches
        nothing, and only all of them together say that nothing was."""
        return "held" if self.nothing else self.outcome

    def __str__(self) -> str:
        by = f", attended by {' and '.join(self.attended)}" if self.attended else ""
        looked = (
            f"1 run ({self.chooser}){by}, {counted(self.turns, 'turn')}, "
            f"{self.virtual_ms} ms virtual time{self._left}, {counted(self.faults, 'fault')}"
        )
        if self.is_violated:
            result = f"Violated: {'; '.join(str(violation) for violation in self.violations)}"
        elif self.is_held:
            result = f"Held{up_to(self.until_ms)}"
            result += " in this Run, and nothing is said of others" if self.attended else ""
        else:
            result = f"Undecided: {self.why}"
        return f"{result}. Looked at: {looked}." + (f" {self.note}" if self.note else "")

    @property
    def _left(self) -> str:
        """Who had timers left at the end, in brackets; empty if nobody had, or at a breach."""
        if not self.waiting or self.is_violated:
            return ""
        names = sorted({path.partition("/")[0] for path in self.waiting})
        return f" ({names_of(names)} still had timers)"
