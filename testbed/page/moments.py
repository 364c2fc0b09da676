"""Moments: the rows of a page, from top to bottom, and what has changed up to each of them.

1. A row is shown for each Step with a mark that matters, for each that changed what is in the Store
   or what an actor believes of it, and for how it all begins; in a short Run for each with a mark.
2. If there are too many, those with the heaviest marks are kept, and of like ones the last. What
   the others have changed belongs to the next row that is kept.
3. The actors that the story tells of get a lane, then the busiest. They stand in the order in which
   they first appear, with the Store in their middle.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import Any

from testbed.maps.describing import described
from testbed.page.belief_log import BeliefChange, BeliefLog
from testbed.page.marking import STORE, Marking
from testbed.page.truth_log import TruthLog
from testbed.store.change import Entry
from testbed.story.diagram import ANY, MATTERS
from testbed.turns.trace import Step

SHORT_MAX = 40
"""How many rows a Run has at most in which each mark is shown."""
LANES_MAX = 8
"""With that of the Store."""
GONE = -1
START = 0
"""The Step of the first row, before all others."""


class Moments:
    """The rows of one Run, its lanes, and the versions that they speak of."""

    def __init__(
        self,
        steps: dict[int, Step],
        last: int,
        marking: Marking,
        truth: TruthLog,
        beliefs: BeliefLog,
        rows_max: int,
    ) -> None:
        self._steps, self._last = steps, last
        self._marking, self._truth, self._beliefs = marking, truth, beliefs
        self.versions: list[dict[str, Any]] = []
        self._index: dict[tuple[str, int], int] = {}
        """By key and revision: the place of a version among `versions`."""
        kept = self._kept(rows_max)
        self.lanes = self._lanes(kept)
        self._names = {lane["name"] for lane in self.lanes}
        self._over: set[str] = set()
        """The actors that a row has said to have ended, and none since to have begun again."""
        self.all = self._rows(kept)
        self.steps: list[int] = [row["step"] for row in self.all]
        """The Steps that have a row."""

    def at_or_after(self, step: int) -> int:
        """The first row at that Step or after it; the last row if there is none."""
        place = bisect_left(self.steps, step)
        return self.steps[min(place, len(self.steps) - 1)]

    def at_or_before(self, step: int) -> int:
        """The last row at that Step or before it."""
        return self.steps[max(bisect_right(self.steps, step) - 1, 0)]

    def has_lane(self, name: str) -> bool:
        """Whether it has a lane of its own."""
        return name in self._names

    # -- which rows -----------------------------------------------------------------------------

    def _kept(self, rows_max: int) -> set[int]:
        """(1 and 2) The Steps that get a row."""
        weights = dict.fromkeys(self._truth.steps_in_sight, ANY)
        for step, by_actor in self._beliefs.steps.items():
            if any(change.changed for change in by_actor.values()):
                weights[step] = ANY
        marked = {
            step: max(mark["weight"] for mark in marks)
            for step, marks in self._marking.by_step.items()
        }
        is_short = sum(step <= self._last for step in {*weights, *marked}) <= SHORT_MAX
        least = ANY if is_short else MATTERS
        weights |= {step: weight for step, weight in marked.items() if weight >= least}
        steps = sorted(step for step in weights if step <= self._last)
        heaviest = sorted(steps, key=lambda step: (-weights[step], -step))
        # The last row has what changed in the end.
        return {START, *heaviest[: rows_max - 2], *steps[-1:]}

    def _lanes(self, kept: set[int]) -> list[dict[str, Any]]:
        """(3) The columns, from left to right."""
        busy, told, first = Counter[str](), set[str](), dict[str, int]()
        for step, marks in sorted(self._marking.by_step.items()):
            matters = any(mark["weight"] >= MATTERS for mark in marks)
            for mark in marks if step in kept or (matters and step <= self._last) else ():
                name = mark["lane"]
                first.setdefault(name, step)
                busy[name] += mark["weight"] >= MATTERS
                told |= {name} if mark["weight"] > MATTERS else set()
        first.pop(STORE, None)
        most = sorted(first, key=lambda name: (name not in told, -busy[name], first[name], name))
        names = sorted(most[: LANES_MAX - 1], key=lambda name: (first[name], name))
        middle = (len(names) + 1) // 2
        return [
            *map(self._lane, names[:middle]),
            {"name": STORE, "kind": "store", "reads": False},
            *map(self._lane, names[middle:]),
        ]

    def _lane(self, name: str) -> dict[str, Any]:
        return {"name": name, "kind": "actor", "reads": name in self._beliefs.readers}

    # -- what they say --------------------------------------------------------------------------

    def _rows(self, kept: set[int]) -> list[dict[str, Any]]:
        truth = _Difference({entry.key: entry for entry in self._truth.start})
        believed = {name: _Difference({}) for name in self._names - {STORE}}
        read = {name: BeliefChange(0) for name in believed}
        rv = self._truth.start_revision
        rows = [self._row(START, rv, truth, {}, {})]
        changing = {*self._truth.changes, *self._beliefs.steps, *kept} - {START}
        for number in sorted(step for step in changing if step <= self._last):
            for change in self._truth.changes.get(number, ()):
                rv = max(rv, change.revision)
                if self._truth.is_in_sight(change.key):
                    truth.put(change.key, change.new)
            for name, new in self._beliefs.steps.get(number, {}).items():
                if name in believed:
                    read[name] = new
                    for key, entry in new.changed.items():
                        believed[name].put(key, entry)
            if number in kept:
                rows.append(self._row(number, rv, truth, believed, read))
        return [row for row in rows if row["step"] in (START, self._last) or _says(row)]

    def _row(
        self,
        number: int,
        rv: int,
        truth: _Difference,
        believed: dict[str, _Difference],
        read: dict[str, BeliefChange],
    ) -> dict[str, Any]:
        step = self._steps.get(number)
        marks = self._marking.by_step.get(number, ())
        beliefs = []
        for name in sorted(believed):
            changed, now = self._indexed(believed[name]), read[name]
            if changed or now.is_over != (name in self._over):
                told = {"lane": name, "rv": now.rv, "over": now.is_over, "changed": changed}
                beliefs.append(told)
        self._over = {name for name, now in read.items() if now.is_over}
        return {
            "step": number,
            "ms": step.now_ms if step is not None else 0,
            "marks": [mark for mark in marks if mark["lane"] in self._names],
            "rv": rv,
            "truth": self._indexed(truth),
            "beliefs": beliefs,
            "tells": [],
        }

    def _indexed(self, difference: _Difference) -> list[list[Any]]:
        return [
            [key, GONE if entry is None else self._version(entry)]
            for key, entry in difference.taken()
            if self._truth.is_in_sight(key)
        ]

    def _version(self, entry: Entry) -> int:
        name = entry.key, entry.revision
        if name not in self._index:
            self._index[name] = len(self.versions)
            self.versions.append(described(entry.key, entry.value, entry.revision))
        return self._index[name]


class _Difference:
    """What has changed of some objects since it was last taken."""

    def __init__(self, at_first: dict[str, Entry]) -> None:
        self._new: dict[str, Entry | None] = dict(at_first)
        self._taken: dict[str, Entry | None] = {}

    def put(self, key: str, entry: Entry | None) -> None:
        self._new[key] = entry

    def taken(self) -> list[tuple[str, Entry | None]]:
        """What is otherwise than when it was last taken, by key."""
        new = {k: each for k, each in self._new.items() if each is not self._taken.get(k)}
        self._taken |= new
        self._new = {}
        return sorted(new.items(), key=lambda item: item[0])


def _says(row: dict[str, Any]) -> bool:
    return bool(row["marks"] or row["truth"] or row["beliefs"])
