"""Growth: what only grows from lap to lap, and whether that ever changes what anybody does.

A moment is written with a place for each whole number in it. Two moments that are alike but for
these numbers, in which each number has grown by the same step in three laps running, are the same
state but for what counts. Let the state be S, the numbers v, and a lap a function of both. If

1. whatever grows is watched, so that each look of a task at it was noted;
2. each such look is a comparison, whose difference d has grown by the same step e in three laps,
   with e = 0, or with d on the side of nought to which e points; or the remainder of a division,
   which was the same in all of them,

then the next lap makes the same turns: what is made of v by adding, by multiplying with what does
not grow, and by dividing without another remainder, is linear in the number of the lap, and so is
each d. It ends in S with v one step further, where 1 and 2 hold as before. So it goes on for ever.
What was lost from sight on the way (a hash, a float, a letter of a text) is not known to do that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

import attrs

from testbed.invariants.lasso.written import END, digest_of
from testbed.objects.calendar import read
from testbed.objects.watched import COMPARED, LOST, Use

PLAIN, WATCHED, TEXT = "int", "watched", "watched text"
NUMBER = re.compile(rf"({PLAIN}|{WATCHED}|{TEXT}) (-?\d+)")
TIME = re.compile(r"str '(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z)'")
COUNTED = re.compile(r"#\d+")
"""How many tasks of a name there were; an actor cannot see that."""


@attrs.frozen
class Leaf:
    """A number in what is written of a moment."""

    label: str
    """The part of the moment in which it stands."""
    is_watched: bool
    is_time: bool = False
    """Whether it is the text of a time, as on the wire: as of any time that is written in a field,
    it is taken to matter only how far that is from now."""


@attrs.frozen
class Masked:
    """A moment with its numbers apart."""

    mask: str
    """A digest of all but the numbers."""
    numbers: tuple[int, ...]
    places: tuple[Leaf, ...]
    """Where each number stands."""


def masked(texts: Mapping[str, str]) -> Masked:
    """Return what is written of a moment, with its numbers apart."""
    parts: list[str] = []
    numbers: list[int] = []
    places: list[Leaf] = []
    for label, text in texts.items():
        label = COUNTED.sub("#", label)
        parts.append(label)
        for item in text.split(END):
            found = NUMBER.fullmatch(item)
            if found is None:
                at_ms = _time_in(item)
                parts.append(item if at_ms is None else "time")
                if at_ms is not None:
                    numbers.append(at_ms)
                    places.append(Leaf(label, is_watched=True, is_time=True))
                continue
            parts.append("text" if found[1] == TEXT else "number")
            numbers.append(int(found[2]))
            places.append(Leaf(label, found[1] != PLAIN))
    return Masked(digest_of(END.join(parts).encode()), tuple(numbers), tuple(places))


def _time_in(item: str) -> int | None:
    """The time that a text says; None if it says none."""
    found = TIME.fullmatch(item)
    with suppress(ValueError):
        return read(found[1]) if found else None
    return None


def steps_of(moments: Sequence[Masked]) -> tuple[int, ...] | None:
    """By how much each number grows from each of these to the next; None if they are not alike, or
    if one grows unevenly."""
    if len({each.mask for each in moments}) > 1:
        return None
    steps = {
        tuple(b - a for a, b in zip(one.numbers, two.numbers, strict=True))
        for one, two in pairwise(moments)
    }
    return steps.pop() if len(steps) == 1 else None


def times_fit(steps: Sequence[int], places: Sequence[Leaf], took_ms: int) -> bool:
    """Return whether each text of a time stays what it is, or is as far from now in each lap."""
    return all(
        step in (0, took_ms) for step, place in zip(steps, places, strict=True) if place.is_time
    )


@attrs.frozen
class Future:
    """Whether laps can go on as they are."""

    lost: tuple[str, ...] = ()
    """Who lost what from sight, and by what."""
    ends: str = ""
    """Why they will not, or why it is not known; empty if nothing speaks against it."""


def future_of(laps: Sequence[Sequence[Use]], digested: Collection[str]) -> Future:
    """Return whether each look in these laps, given lap by lap, comes out the same in all that
    follow. The actors in `digested` say how far from now all their times are, so that where they
    look at a clock does not matter."""
    laps = [[e for e in lap if not (e.is_clock and e.who in digested)] for lap in laps]
    if len({tuple((e.who, e.how, e.is_clock, e.by) for e in lap) for lap in laps}) > 1:
        return Future(ends="what counts is looked at otherwise from lap to lap")
    lost: dict[str, None] = {}
    for looks in zip(*laps, strict=True):
        last, numbers = looks[-1], [each.number for each in looks]
        who = last.who or "the server"
        if last.how == LOST:
            hint = ", as testbed.objects.number_in does not" if last.by == "int" else ""
            lost[f"{who} loses {_kind(last)} from sight by `{last.by}`{hint}"] = None
        elif last.how != COMPARED:
            if len(set(numbers)) > 1:
                lost[f"{who} divides {_kind(last)} {last.by}, with another remainder each time"] = (
                    None
                )
        elif ends := _comes_nearer(numbers):
            return Future(ends=f"{who} compares {_kind(last)} (`{last.by}`) with {ends}")
    return Future(tuple(lost))


def _comes_nearer(differences: Sequence[int]) -> str:
    """Return what a comparison is with, if it may come out otherwise some time; else empty."""
    steps = {b - a for a, b in pairwise(differences)}
    if len(steps) > 1:
        return "what grows unevenly"
    step, last = steps.pop(), differences[-1]
    if step == 0 or last * step > 0:
        return ""
    return f"what it comes to in {-(-abs(last) // abs(step)):,} laps"


def _kind(look: Use) -> str:
    return "its clock" if look.is_clock else "what counts"
