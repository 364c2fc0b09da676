"""Certificate: what a complete search has seen, written so that it can be checked.

A file of JSON lines, each with the running checksum of all before it:

- a header: what was searched, the bounds, and how many of each there are;
- `{"option": 3, "is": [kind, path, verb, key, change, nth]}`: a sentence;
- `{"step": 5, "option": 3, …}`: a turn, its picks, its time, and what it touched;
- `{"offer": 2, "ready": […], "faults": […], "due": 0}`: what could happen at some turn;
- `{"class": 1, …}`: the turns of a Run with their causes, and what was offered at each.

`checks/certificate.py` reads it and trusts no code of ours.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from testbed.choosers.equivalence.orders import OrderedTurn
from testbed.turns.option import Sentence
from testbed.turns.trace import summed

FORMAT = "testbed-certificate/1"


@attrs.frozen
class Offer:
    """What could happen at one turn."""

    ready: tuple[Sentence, ...]
    faults: tuple[Sentence, ...]
    due_ms: int
    """When all that was ready was due."""


@attrs.frozen
class Seen:
    """One class, by the Run that showed it."""

    outcome: str
    end: str
    turns: tuple[OrderedTurn, ...]
    offers: tuple[Offer, ...]
    """What could happen at each turn."""


def write(path: str | Path, header: dict[str, Any], classes: Sequence[Seen]) -> None:
    """Write the file. Each option, step and offer stands once, before the first line that names
    it."""
    total = 0
    with Path(path).open("wb") as file:
        for content in ({"format": FORMAT, **header}, *_Tables().lines(classes)):
            line, total = summed(content, total)
            file.write(line)


class _Tables:
    """Numbers what several lines name, so that it is written only once."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[Hashable, int]] = {"option": {}, "step": {}, "offer": {}}
        self._new: list[dict[str, Any]] = []

    def lines(self, classes: Sequence[Seen]) -> Iterator[dict[str, Any]]:
        """The lines of all classes, each after the lines of what it names."""
        for number, seen in enumerate(classes, 1):
            line = {
                "class": number,
                "verdict": seen.outcome,
                "end": seen.end,
                "run": [[self._step(turn), turn.causes] for turn in seen.turns],
                "offers": [self._offer(offer) for offer in seen.offers],
            }
            yield from self._new
            self._new.clear()
            yield line

    def _number(self, table: str, what: Hashable) -> tuple[int, bool]:
        known = self._numbers[table]
        number = known.get(what)
        if number is not None:
            return number, False
        known[what] = number = len(known) + 1
        return number, True

    def _option(self, sentence: Sentence) -> int:
        number, is_new = self._number("option", sentence)
        if is_new:
            self._new.append({"option": number, "is": list(sentence)})
        return number

    def _step(self, turn: OrderedTurn) -> int:
        option = self._option(turn.sentence)
        number, is_new = self._number("step", turn.content)
        if is_new:
            self._new.append(
                {
                    "step": number,
                    "option": option,
                    "picks": [list(pick) for pick in turn.picks],
                    "at": turn.now_ms,
                    "reads": sorted(turn.did.reads),
                    "writes": sorted(turn.did.writes),
                }
            )
        return number

    def _offer(self, offer: Offer) -> int:
        ready = [self._option(sentence) for sentence in offer.ready]
        faults = [self._option(sentence) for sentence in offer.faults]
        number, is_new = self._number("offer", offer)
        if is_new:
            line = {"offer": number, "ready": ready, "faults": faults, "due": offer.due_ms}
            self._new.append(line)
        return number
