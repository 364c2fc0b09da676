"""Marking: each row of a story as a mark in its actor's lane, with the reasons that it had."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from testbed.maps.describing import cut
from testbed.story.diagram import (
    ANY,
    ASKED,
    DID,
    LATE,
    MATTERS,
    NOTED,
    SAID,
    SPOKEN_OF,
    STRUCK,
    TOLD,
    Row,
    Rows,
    named_first,
)
from testbed.story.requests import Sent
from testbed.story.slice import Slice
from testbed.turns.option import SERVE
from testbed.turns.trace import Record, Step

STORE = "store"
"""The lane of the Store: what takes effect, and what breaks if no actor has a lane for it."""
BROKE = "broke"
SIGNS = {
    DID: "did",
    TOLD: "told",
    NOTED: "noted",
    STRUCK: "struck",
    LATE: "late",
    ASKED: "asked",
    SAID: "said",
}
TEXT_MAX = 240
REASONS_MAX = 12
ABOUT = (SIGNS[DID], SIGNS[TOLD], SIGNS[LATE])
"""The signs of marks that are about the object of their Step."""


class Marking:
    """All marks of one Run, by Step."""

    def __init__(self, slice_: Slice, rows: Rows) -> None:
        self._steps = slice_.causality.steps
        records = [act.record for act in slice_.knowledge.acts if act.record is not None]
        self._by_number = {record.number: record for record in records}
        self._by_turn: dict[tuple[str, int], list[Record]] = {}
        for record in records:
            turn = record.path.partition("/")[0], record.step
            self._by_turn.setdefault(turn, []).append(record)
        self._sent = {part.number: sent for sent in slice_.requests.all for part in sent.parts}
        """By Step: the request of which it served a part."""
        self._ends = slice_.requests.ends
        self.by_step: dict[int, list[dict[str, Any]]] = {}
        for row in rows.all:
            self.by_step.setdefault(row.step, []).append(self._mark(row))
        violation = slice_.violation
        if violation is not None:
            broken = self._steps.get(violation.step)
            key = next(iter(sorted(slice_.named_keys & slice_.knowledge.versions.keys())), "")
            text = cut(f"{violation.invariant}: {violation.said}", TEXT_MAX)
            lane = broken.option.actor if broken is not None and broken.kind == SERVE else STORE
            mark = _mark(lane, violation.step, BROKE, text, weight=SPOKEN_OF, key=key)
            self.by_step.setdefault(violation.step, []).append(mark)

    def note_asked(self, slice_: Slice, changed: Collection[int]) -> None:
        """Mark where each request that matters was asked, if something mattered or `changed`
        between that Step and the one that served it: it was on its way then."""
        matter = [s for s, marks in self.by_step.items() if any(m["weight"] for m in marks)]
        busy = sorted({*matter, *changed})
        for sent in slice_.requests.all:
            own = {part.number for part in sent.parts}
            passed = busy[bisect_right(busy, sent.asked) : bisect_left(busy, sent.step)]
            is_passed = not own.issuperset(passed)
            weight = self.weight_of(sent.actor, sent.step)
            if sent.parts and is_passed and weight >= MATTERS and not self._asks(sent):
                said = [record.said for record in self._in_turn(sent.actor, sent.asked)]
                text = cut(f"asks to {sent.word} {sent.key}", TEXT_MAX)
                key = sent.key if "/" in sent.key else ""
                mark = _mark(sent.actor, sent.asked, SIGNS[ASKED], text, weight=weight, key=key)
                mark["reasons"] = [cut(each, TEXT_MAX) for each in said[:REASONS_MAX]]
                self.by_step.setdefault(sent.asked, []).append(mark)

    def _asks(self, sent: Sent) -> bool:
        marks = self.by_step.get(sent.asked, ())
        return any(m["lane"] == sent.actor and m["sign"] == SIGNS[ASKED] for m in marks)

    def _in_turn(self, actor: str, step: int) -> list[Record]:
        """What that actor recorded in that turn."""
        return self._by_turn.get((actor, step), [])

    def weight_of(self, lane: str, step: int) -> int:
        """The largest weight of its marks in that Step; 0 if it has none."""
        marks = self.by_step.get(step, ())
        return max((mark["weight"] for mark in marks if mark["lane"] == lane), default=ANY)

    def _mark(self, row: Row) -> dict[str, Any]:
        sign = SIGNS[row.mark]
        # What was struck, held back or refused is why the Run went as it did.
        weight = max(row.weight, MATTERS) if row.is_trouble else row.weight
        step = self._steps.get(row.step)
        key = _about(step) if step is not None and sign in ABOUT else ""
        reasons = [cut(said, TEXT_MAX) for said in self._reasons(row, sign, step)]
        mark = _mark(row.actor, row.step, sign, self._said(row), weight=weight, key=key)
        mark["reasons"] = list(dict.fromkeys(reasons))[:REASONS_MAX]
        mark["parts"] = self._parts(row)
        return mark

    def _said(self, row: Row) -> str:
        """A row in words; a request that outlives the life that asked for it says so."""
        text, sent = row.text, self._sent.get(row.step) if row.mark == DID else None
        if sent is not None:
            ends = (step for actor, step in self._ends if actor == sent.actor)
            if any(sent.asked < step < row.step for step in ends):
                text += " (asked before the crash)"
        return cut(text, TEXT_MAX)

    def _parts(self, row: Row) -> list[int]:
        """The Steps in which its request took effect, if it has parts."""
        sent = self._sent.get(row.step) if row.mark == DID else None
        return [part.number for part in sent.parts] if sent and len(sent.parts) > 1 else []

    def _reasons(self, row: Row, sign: str, step: Step | None) -> Iterator[str]:
        """What the actor has recorded of why: of a record, its grounds; of a request, the record
        that it gave as its reason; of a decision, all that it recorded in that turn."""
        if sign == SIGNS[DID] and step is not None and step.because in self._by_number:
            yield self._by_number[step.because].said
            return
        for record in self._in_turn(row.actor, row.step):
            if sign == SIGNS[NOTED] and record.said.removeprefix("recorded ") == row.text:
                yield from grounds_of(record.facts)
            elif sign == SIGNS[ASKED]:
                yield record.said


def grounds_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """The facts that say something of each of several things, such as why each node was refused: a
    line each."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            for each, what in value.items():
                if isinstance(what, Mapping) and all(isinstance(v, Mapping) for v in what.values()):
                    yield from grounds_of({f"{name} {each}": what})
                elif text := _in_words(what):
                    yield f"{name} {each}: {text}"


def _in_words(what: Any) -> str:
    """A fact in words; what no reader can read is left out."""
    if isinstance(what, Mapping):
        said = [(name, _in_words(value)) for name, value in what.items()]
        return ", ".join(f"{name} {text}" for name, text in said if text)
    if isinstance(what, list | tuple):
        return ", ".join(each for each in what if isinstance(each, str))
    return "" if isinstance(what, bool) or what is None else str(what)


def _about(step: Step) -> str:
    """The object that a Step is about; empty if it is about none, or about a whole kind."""
    written = [change.key for change in step.marks.changes]
    key: str = next(iter(named_first(step.option.key, written)), step.option.key)
    return key if "/" in key else ""


def _mark(lane: str, step: int, sign: str, text: str, *, weight: int, key: str) -> dict[str, Any]:
    return {
        "lane": lane,
        "step": step,
        "sign": sign,
        "text": text,
        "reasons": [],
        "weight": weight,
        "key": key,
        "parts": [],
    }
