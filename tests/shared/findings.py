"""Findings to keep and to compare."""

from __future__ import annotations

from testbed.search.finding import Finding
from testbed.search.planned_run import Breach, Outcome


def finding(outcome: Outcome, breach: Breach, name: str) -> Finding:
    """What a Run is told as: here its cause is the sentence of its breach."""
    said = breach.said
    return Finding(
        name, breach.invariant, said, (said,), "", 1, "", None, (), outcome.run, "pct", 1, ""
    )


def violated(run: int, *said: str, faults: tuple[str, ...] = ()) -> Outcome:
    """A Run that breaches the claim so."""
    breaches = tuple(Breach("claim", each) for each in said)
    return Outcome(run, "pct", "violated", "a breach", faults=faults, breaches=breaches)
