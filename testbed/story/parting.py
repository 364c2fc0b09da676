"""Parting: two Runs of one scenario side by side, and the write at which they part for good.

1. After each write, the state of the Store gets a number: equal states, in either Run, get the same
   one. When something was made, and as which revision, does not count.
2. The Runs part after the last state that both were in: before it, any difference was undone;
   behind it, they are never again alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.objects.codec import encode
from testbed.objects.meta import UNSET, Object
from testbed.store.change import Entry
from testbed.turns.option import SERVE
from testbed.turns.trace import Step, Trace
from testbed.words import spoken

ROWS_MAX = 24
WIDTH = 46
NOTHING = 0
"""The number of an object that is not there."""


@attrs.frozen
class Commit:
    """One write of a Run, and the state of the Store after it."""

    text: str
    state: int
    """The number of that state."""


class States:
    """Numbers the states of a scenario's Store, so that equal states have the same number.

    It is a tree over all keys. A leaf has the number of the object at its key, a node the number of
    the pair below it, and the root so the number of the whole state. A write changes only the path
    from its leaf to the root, so it costs the logarithm of the number of keys.
    """

    def __init__(self, *traces: Trace) -> None:
        first: dict[str, Entry | None] = {}
        for trace in traces:
            for step in trace.steps:
                for change in step.marks.changes:
                    first.setdefault(change.key, change.old)
        self._width = 1 << len(first).bit_length()
        self._leaves = {key: self._width + place for place, key in enumerate(first)}
        self._numbers: dict[bytes | tuple[int, int], int] = {(NOTHING, NOTHING): NOTHING}
        self._nodes = [NOTHING] * (2 * self._width)
        for key, entry in first.items():
            self._write(self._nodes, key, entry)
        self.start = self._nodes[1]

    def of(self, trace: Trace) -> list[Commit]:
        """The writes of a kept trace, in order."""
        nodes = [*self._nodes]
        found = []
        for step in trace.steps:
            for change in step.marks.changes:
                self._write(nodes, change.key, change.new)
            if step.marks.changes:
                found.append(Commit(_written(step), nodes[1]))
        return found

    def _write(self, nodes: list[int], key: str, entry: Entry | None) -> None:
        place = self._leaves[key]
        nodes[place] = NOTHING if entry is None else self._number(_essence(entry.value))
        while place > 1:
            place //= 2
            nodes[place] = self._number((nodes[2 * place], nodes[2 * place + 1]))

    def _number(self, what: bytes | tuple[int, int]) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _essence(value: object) -> bytes:
    """The value as bytes, without what depends on when it was made."""
    if isinstance(value, Object):
        value = value.with_meta(uid="", created_ms=0, revision=UNSET)
    return encode(value)


def side_by_side(
    calm: Trace, here: Trace, rows_max: int = ROWS_MAX, title: str = "the calm run"
) -> str:
    """The writes of both Runs, and a line where they part for good. Before it and after it, at most
    the last `rows_max` of each. The title stands above the first."""
    states = States(calm, here)
    one, other = states.of(calm), states.of(here)
    left, right = _last_alike(states.start, one, other)
    rows = [(title, "this run"), ("─" * WIDTH, "─" * WIDTH)]
    rows += _rows(one[:left], other[:right], rows_max)
    rows.append(("┄ they part for good ".ljust(WIDTH, "┄"), "┄" * WIDTH))
    rows += _rows(one[left:], other[right:], rows_max)
    return "\n".join(f"{a[:WIDTH]:<{WIDTH}}  {b[:WIDTH]}".rstrip() for a, b in rows)


def _last_alike(start: int, one: list[Commit], other: list[Commit]) -> tuple[int, int]:
    """How many writes of each Run lead to the last state that both were in."""
    # One Run may be in a state several times: its last time counts, for both.
    lefts = {start: 0} | {commit.state: left for left, commit in enumerate(one, start=1)}
    for right in range(len(other), 0, -1):
        if (left := lefts.get(other[right - 1].state)) is not None:
            return left, right
    return lefts[start], 0


def _rows(one: list[Commit], other: list[Commit], rows_max: int) -> Iterator[tuple[str, str]]:
    hidden = max(len(one), len(other)) - rows_max
    if hidden > 0:
        yield f"… {hidden} writes more", ""
        one, other = one[-rows_max:], other[-rows_max:]
    for row in range(max(len(one), len(other))):
        yield tuple(each[row].text if row < len(each) else "" for each in (one, other))  # type: ignore[misc]


def _written(step: Step) -> str:
    """`  12 alpha bind pods/default/c`."""
    option = step.option
    verb, _, subresource = option.verb.partition("/")
    keys = ", ".join(change.key for change in step.marks.changes)
    what = f"{option.actor} {spoken(verb, subresource)} {keys}" if step.kind == SERVE else keys
    return f"{step.number:4} {what}"
