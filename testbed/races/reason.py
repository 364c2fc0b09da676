"""Reason: what makes two breaches the same: the claim, and, where it says little, what was said.

Of what was said only what does not depend on this Run counts: of a death the exception and the
function it came from, not the line, the text, or whom of several alike it befell; of the stuck what
they wait for, each once, without the names of actors and objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from testbed.invariant import Violation

DIES, STUCK = "no_actor_dies", "nobody_is_stuck"
"""Claims of every World, each breached for many reasons."""
_DEATH = re.compile(
    r"\S+ died of (?P<error>\w+).* at (?P<file>.+):\d+ in (?P<function>.+)", re.DOTALL
)
_WAITER = re.compile(r"(?P<actor>[^/\s]+)/(?P<task>\S+) waits for (?P<what>.*)", re.DOTALL)
_OBJECT = re.compile(r"\b([a-z]+)(/[\w.-]+)+")


def reason_of(violation: Violation) -> str:
    """What makes two breaches the same."""
    said = violation.said
    if violation.invariant == DIES and (death := _DEATH.fullmatch(said)):
        return f"{DIES}: {death['error']} in {death['function']} of {death['file']}"
    if violation.invariant == STUCK:
        return f"{STUCK}: {_stuck(said)}"
    if violation.invariant == DIES:
        return f"{DIES}: {re.sub('[0-9]+', 'N', said)}"
    return violation.invariant


def is_told_by_reason(reason: str) -> bool:
    """Whether it says all there is: whatever led there, the same place must be mended."""
    return reason.startswith(f"{DIES}: ")


def nameless(text: str, actors: Iterable[str]) -> str:
    """The same without the names of these actors, of objects, and numbers."""
    for actor in sorted(actors, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(actor)}(?![\w.-])", "ACTOR", text)
    return re.sub("[0-9]+", "N", _OBJECT.sub(r"\1", text))


def _stuck(said: str) -> str:
    found = [_WAITER.fullmatch(part) for part in said.partition(", and ")[2].split("; ")]
    waiting = [match for match in found if match is not None]
    if len(waiting) < len(found):
        return nameless(said, ())
    actors = {match["actor"] for match in waiting}
    told = {nameless(f"{match['task']} waits for {match['what']}", actors) for match in waiting}
    return "; ".join(sorted(told))
