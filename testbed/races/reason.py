"""Reason: what makes two breaches the same: the claim and, for some claims, what it is alike by.

For most claims the name alone is the reason. A claim that is breached for many reasons says by what
two breaches are alike (`alike_by`), and that does not depend on this Run:

- an actor that dies: the exception and the function that it came from, but not the line, the text
  of the exception, or which of several like actors it was;
- tasks that are stuck: what they wait for, each once, without the names of actors and objects.

With more than that, no smaller race would ever count as the same breach. With less, a shrink could
end at another bug than the one it began with. For the same sake a shrink also minds which of the
actors and objects that its World begins with a breach is about (`named_by`): not what is made in
the Run, since its names may count what else was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from testbed.turns.verdict import Violation

DIES = "no_actor_dies"
"""The claim of every World of which the reason alone says what needs the fix."""


def reason_of(violation: Violation) -> str:
    """Return what makes two breaches the same."""
    return reason(violation.invariant, violation.alike_by)


def reason(invariant: str, alike_by: str) -> str:
    """Return what makes two breaches of a claim the same that are alike by this."""
    return f"{invariant}: {alike_by}" if alike_by else invariant


def is_told_by_reason(reason: str) -> bool:
    """Whether the reason alone is the cause: whatever led to it, the same place needs the fix."""
    return reason.startswith(f"{DIES}: ")


def same_as(violation: Violation, names: Iterable[str]) -> Callable[[Violation], bool]:
    """Return what says of another Violation whether it is the same breach: of the same claim, for
    the same reason, naming the same of these actors and objects."""
    known, reason = tuple(names), reason_of(violation)
    named = named_by(violation, known)
    return lambda other: reason_of(other) == reason and named_by(other, known) == named


def named_by(violation: Violation, names: Iterable[str]) -> frozenset[str]:
    """Return those of these actors and objects that it is about; none where the reason says by what
    it is the same, whomever it befalls."""
    if violation.alike_by:
        return frozenset()
    among = tuple(names)
    about = violation.among(among, among)
    return frozenset(among).intersection((*about.keys, *about.actors))
