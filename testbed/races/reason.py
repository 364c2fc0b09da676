"""Reason: what makes two breaches the same: the claim and, for some claims, part of its sentence.

For most claims the name alone is the reason. Two claims of every World are breached for many
reasons, so part of the sentence counts, too, but only what does not depend on this Run:

- an actor that dies: the exception and the function that it came from, but not the line, the text
  of the exception, or which of several like actors it was;
- tasks that are stuck: what they wait for, each once, without the names of actors and objects.

With more than that, no smaller race would ever count as the same breach. With less, a shrink could
end at another bug than the one it began with. For the same sake a shrink also minds which of the
actors and objects that its World begins with are named (`named_by`): not what is made in the Run,
since its names may count what else was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from testbed.turns.verdict import Violation

DIES, STUCK = "no_actor_dies", "nobody_is_stuck"
"""Claims of every World that are breached for many reasons."""
_DEATH = re.compile(
    r"\S+ died of (?P<error>\w+).* at (?P<file>.+):\d+ in (?P<function>.+)", re.DOTALL
)
_WAITER = re.compile(r"(?P<actor>[^/\s]+)/(?P<task>\S+) waits for (?P<what>.*)", re.DOTALL)
_WORD = re.compile(r"[\w./-]+")
_OBJECT = re.compile(r"\b([a-z]+)(/[\w.-]+)+")


def reason_of(violation: Violation) -> str:
    """Return what makes two breaches the same."""
    sentence = violation.said
    if violation.invariant == DIES and (death := _DEATH.fullmatch(sentence)):
        return f"{DIES}: {death['error']} in {death['function']} of {death['file']}"
    if violation.invariant == STUCK:
        return f"{STUCK}: {_stuck(sentence)}"
    if violation.invariant == DIES:
        return f"{DIES}: {re.sub('[0-9]+', 'N', sentence)}"
    return violation.invariant


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
    """Return those of these actors and objects that its sentence names; none where the reason goes
    by the sentence, without its names."""
    if violation.invariant in (DIES, STUCK):
        return frozenset()
    words = {word.strip("./") for word in _WORD.findall(violation.said)}
    words |= {word.partition("/")[0] for word in words}  # the actor of `alpha/main`
    return frozenset(name for name in names if _is_named(name, words))


def _is_named(name: str, words: set[str]) -> bool:
    """Whether an actor, or an object by its key or the last part of it, is among these words."""
    return name in words or name.rpartition("/")[2] in words


def nameless(text: str, actors: Iterable[str]) -> str:
    """Return the text without the names of these actors, without names of objects, and numbers."""
    # Long names first: `beta` would leave a rest of `beta-1`.
    for actor in sorted(actors, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(actor)}(?![\w.-])", "ACTOR", text)
    return re.sub("[0-9]+", "N", _OBJECT.sub(r"\1", text))


def _stuck(sentence: str) -> str:
    found = [_WAITER.fullmatch(part) for part in sentence.partition(", and ")[2].split("; ")]
    waiting = [match for match in found if match is not None]
    if len(waiting) < len(found):
        return nameless(sentence, ())
    actors = {match["actor"] for match in waiting}
    waits = {nameless(f"{match['task']} waits for {match['what']}", actors) for match in waiting}
    return "; ".join(sorted(waits))
