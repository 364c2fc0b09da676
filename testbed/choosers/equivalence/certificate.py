"""Certificate: what a complete search has seen, written so that it can be checked.

A file of JSON lines, each with the running checksum of all before it:

- a header: what was searched, the bounds, the verdict, and how many classes there are;
- `{"option": 3, "is": [kind, path, verb, key, change, nth, settings]}`: a sentence, and how a fault
  would strike;
- `{"step": 5, "option": 3, …}`: a turn, its picks, its time, what it touched, and what it turned
  out to have touched when a later turn looked back at it, or a claim at both (`late`);
- `{"offer": 2, "ready": […], "faults": […], "due": 0}`: what could happen at some turn;
- `{"class": 1, …}`: how a Run ended and what broke in it; its turns, each with its place among what
  was offered and with its causes; and what was offered at each, and at rest.

So the file holds all choices of each Run: it can be played again. `checks/certificate` reads the
file and trusts no code of ours.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from testbed.choosers.equivalence.orders import OrderedTurn, with_path
from testbed.code.files import open_out
from testbed.errors import ScenarioError
from testbed.store.footprint import HISTORY, LOG, Footprint
from testbed.turns.option import Sentence
from testbed.turns.trace import Step, summed
from testbed.words import counted

FORMAT = "testbed-certificate/3"
AT_REST = ("quiet", "stuck")
STREAM = "stream:"
"""Begins the key of a watch, which each commit writes that it hears."""


class Said(NamedTuple):
    """An Option in the file. Two faults of one sentence may not do the same."""

    sentence: Sentence
    settings: str
    """How a fault would strike; empty if it is no fault."""

    @classmethod
    def of(cls, turn: OrderedTurn) -> Said:
        """That of a turn."""
        return cls(turn.sentence, turn.settings)

    def __str__(self) -> str:
        return f"{self.sentence}" + f" by {self.settings}" * bool(self.settings)


@attrs.frozen
class Offer:
    """What could happen at one turn."""

    ready: tuple[Said, ...]
    faults: tuple[Said, ...]
    due_ms: int
    """When all that was ready was due."""


NOTHING_LEFT = Offer((), (), 0)
"""At rest, if no fault could strike either."""


@attrs.frozen
class Seen:
    """One class, by the Run that showed it."""

    outcome: str
    end: str
    broken: tuple[tuple[str, str], ...]
    """The claims that were broken, and what was said of each."""
    turns: tuple[OrderedTurn, ...]
    lates: tuple[Footprint, ...]
    """For each turn, what was only known later to be touched. Two Runs that begin alike may differ
    in it."""
    places: tuple[int, ...]
    """Which of all that could happen each turn was, the faults counted last."""
    offers: tuple[Offer, ...]
    """What could happen at each turn, and at rest."""


@attrs.frozen
class Tested:
    """How a search was put to the test: by its classes in other orders."""

    orders: int = 0
    """How many other orders came to the same."""
    turns: int = 0
    """How many turns the search had played, of which a share was spent on orders."""
    seed: int = 0
    """What orders were drawn from."""

    def as_dict(self) -> dict[str, Any]:
        """The same as a certificate has it: a seed may be any number, so it is a text there."""
        return {"orders": self.orders, "turns": self.turns, "seed": str(self.seed)}

    def __str__(self) -> str:
        return f", {counted(self.orders, 'other order')}" if self.orders else ""


def verdict_of(classes: Iterable[Seen]) -> str:
    """What all classes together come to: held if each of them is."""
    return "held" if all(seen.outcome == "held" for seen in classes) else "violated"


def write(
    path: str | Path,
    searched: Mapping[str, Any],
    terms: Mapping[str, Any],
    classes: Sequence[Seen],
) -> None:
    """Write the file, if the terms are those of what was searched. Each option, step and offer
    stands once, before the first line that names it."""
    for name, was in searched.items():
        if terms.get(name) != was:
            raise ScenarioError(
                f"{path}: these are not the terms of this search: its {name} was {was!r}, and "
                f"theirs is {terms.get(name)!r}.\n"
                "Next: make them of the same scenario and switches."
            )
    found = {"verdict": verdict_of(classes), "classes": len(classes)}
    total = 0
    with open_out(path) as file:
        for content in ({"format": FORMAT, **terms, **found}, *_Tables().lines(classes)):
            line, total = summed(content, total)
            file.write(line)


def late_part(step: Step, did: Footprint) -> Footprint:
    """Of all that a turn did, what was not known when it ended."""
    then = with_path(step.marks.footprint() | step.option.own, step.option.path)
    reads, writes = then.reads, then.writes
    if any(key.startswith(LOG) for key in writes):
        # A commit is heard by a watch that is open, or by one that is opened on the past later.
        # It commutes with the opening, so that which of the two it was is no part of its past; nor
        # is that a watch was told already from where it hears.
        reads = reads - {HISTORY}
        writes = frozenset(key for key in writes if not key.startswith(STREAM))
    return Footprint(did.reads - reads, did.writes - writes)


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
                "broken": [list(one) for one in seen.broken],
                "run": [
                    [self._step(turn, late), place, turn.causes]
                    for turn, late, place in zip(seen.turns, seen.lates, seen.places, strict=True)
                ],
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

    def _option(self, said: Said) -> int:
        number, is_new = self._number("option", said)
        if is_new:
            self._new.append({"option": number, "is": [*said.sentence, said.settings]})
        return number

    def _step(self, turn: OrderedTurn, late: Footprint) -> int:
        option = self._option(Said.of(turn))
        number, is_new = self._number("step", (turn.content, late))
        if is_new:
            self._new.append(
                {
                    "step": number,
                    "option": option,
                    "picks": [list(pick) for pick in turn.picks],
                    "at": turn.now_ms,
                    "reads": sorted(turn.did.reads - late.reads),
                    "writes": sorted(turn.did.writes - late.writes),
                    "late": [sorted(late.reads), sorted(late.writes)],
                }
            )
        return number

    def _offer(self, offer: Offer) -> int:
        ready = [self._option(said) for said in offer.ready]
        faults = [self._option(said) for said in offer.faults]
        number, is_new = self._number("offer", offer)
        if is_new:
            line = {"offer": number, "ready": ready, "faults": faults, "due": offer.due_ms}
            self._new.append(line)
        return number
