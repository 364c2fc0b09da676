"""Parting: two Runs of one scenario side by side, and the step at which they part for good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from testbed.invariants.confluence import ALWAYS
from testbed.objects.meta import changed_fields
from testbed.option import SERVE
from testbed.spoken import spoken
from testbed.trace import Step, Trace

ROWS_MAX = 24
WIDTH = 46


@attrs.frozen
class Commit:
    """One write of a Run, and what the Store then holds."""

    step: int
    said: str
    state: dict[str, Any]


def commits(trace: Trace) -> list[Commit]:
    """The writes of a kept trace, in order."""
    state: dict[str, Any] = {}
    found = []
    for step in trace.steps:
        for change in step.marks.changes:
            if change.new is None:
                state.pop(change.key, None)
            else:
                state[change.key] = change.new.value
        if step.marks.changes:
            found.append(Commit(step.number, _said(step), dict(state)))
    return found


def side_by_side(calm: Trace, here: Trace) -> str:
    """The writes of both, and a line where they part: what they hold is alike before it, and never
    again after."""
    one, other = commits(calm), commits(here)
    left, right = _last_alike(one, other)
    rows = [("the calm run", "this run"), ("─" * WIDTH, "─" * WIDTH)]
    rows += _rows(one[:left], other[:right])
    rows.append(("┄ they part for good ".ljust(WIDTH, "┄"), "┄" * WIDTH))
    rows += _rows(one[left:], other[right:])
    return "\n".join(f"{a[:WIDTH]:<{WIDTH}}  {b[:WIDTH]}".rstrip() for a, b in rows)


def _last_alike(one: list[Commit], other: list[Commit]) -> tuple[int, int]:
    """How many writes of each lead to the last state that both had."""
    for right in range(len(other), 0, -1):
        for left in range(len(one), 0, -1):
            if _are_alike(one[left - 1].state, other[right - 1].state):
                return left, right
    return 0, 0


def _are_alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one.keys() != other.keys():
        return False
    return all(path in ALWAYS for key in one for path in changed_fields(one[key], other[key]))


def _rows(one: list[Commit], other: list[Commit]) -> Iterator[tuple[str, str]]:
    hidden = max(len(one), len(other)) - ROWS_MAX
    if hidden > 0:
        yield f"… {hidden} writes more", ""
        one, other = one[-ROWS_MAX:], other[-ROWS_MAX:]
    for row in range(max(len(one), len(other))):
        yield tuple(each[row].said if row < len(each) else "" for each in (one, other))  # type: ignore[misc]


def _said(step: Step) -> str:
    option = step.option
    verb, _, subresource = option.verb.partition("/")
    keys = ", ".join(change.key for change in step.marks.changes)
    what = f"{option.actor} {spoken(verb, subresource)} {keys}" if step.kind == SERVE else keys
    return f"{step.number:4} {what}"
