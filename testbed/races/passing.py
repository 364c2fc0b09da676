"""Passing: what passes a hold while it lasts, and where it makes a difference that it ends.

A hold is first tried until quiet: that Run shows all that could pass it. With any other `until` the
Run is the same up to the turn that ends the hold. So an `until` that happens only before the hold
begins, or never while it lasts, makes the same Run as none.

Two ends come to the same if nothing between them clashes with what is held, or with what comes of
it in its instant; if none of it is of the same actor; and if no time passes. Then only turns that
commute have changed places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from testbed.races.playing import Played
from testbed.store.footprint import NOTHING, Footprint
from testbed.turns.option import ASIDE, HOLD, Option
from testbed.turns.trace import Step


@attrs.frozen
class HoldEnd:
    """One turn that passed a hold, or came after it; the hold may end with it."""

    option: Option
    stretch: int
    """Two ends in one stretch come to the same; they are numbered in the order of the Run."""


@attrs.frozen
class PassedHold:
    """All that passed one hold in a Run, and what came after it."""

    ends: tuple[HoldEnd, ...]
    last: int
    """The stretch in which the hold has ended."""


def passing(played: Played, index: int) -> PassedHold | None:
    """Return what passed the hold of that index in a Run with its Steps kept; None if it has held
    nothing, or not just one Option."""
    fate = played.fates[index]
    held = fate.held if fate.times == 1 else None
    steps = played.trace.steps
    begun = next((n for n, step in enumerate(steps) if _is_hold_of(held, step)), None)
    if held is None or begun is None:
        return None
    over = next((n for n, step in enumerate(steps) if step.option is held), len(steps))
    touched = _touched(steps, over)
    ends, stretch, now_ms = [], 0, steps[begun].now_ms
    for step in steps[begun + 1 : over]:
        if step.kind in ASIDE:
            continue
        clashes = touched is None or step.did.clashes(touched)
        if clashes or step.now_ms > now_ms or step.option.actor == held.actor:
            stretch += 1
        now_ms = step.now_ms
        ends.append(HoldEnd(step.option, stretch))
    # What comes only after it is no end of the hold: with that, too, it lasts until quiet.
    ends += [HoldEnd(step.option, stretch) for step in steps[over + 1 :] if step.kind not in ASIDE]
    return PassedHold(tuple(ends), stretch)


def _is_hold_of(held: Option | None, step: Step) -> bool:
    """Whether this Step holds that Option back."""
    if held is None or step.kind != HOLD:
        return False
    said, option = step.option, held
    return (said.label, said.path, said.verb, said.key, said.change, said.nth) == (
        option.kind, option.path, option.verb, option.key, option.change, option.nth,
    )  # fmt: skip


def _touched(steps: Sequence[Step], place: int) -> Footprint | None:
    """What the turn at that place has touched, with all that came of it in its instant; None if
    there is no such turn."""
    if place == len(steps):
        return None
    first, touched, numbers = steps[place], NOTHING, set[int]()
    for step in _instant(steps, place):
        if step is first or not numbers.isdisjoint(step.causes):
            numbers.add(step.number)
            touched |= step.did
    return touched


def _instant(steps: Sequence[Step], place: int) -> Iterator[Step]:
    """The Steps from that place on until time passes."""
    for step in steps[place:]:
        if step.now_ms > steps[place].now_ms:
            return
        yield step
