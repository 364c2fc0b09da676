"""Deciding: what an actor has itself recorded of the decision that an act follows from."""

from __future__ import annotations

from collections.abc import Collection

from testbed.story.knowledge import Act
from testbed.story.slice import Slice
from testbed.turns.trace import SAID, Record


def decided(slice_: Slice, act: Act) -> str:
    """`it chose n1 for pods/default/c`; of a record, what it says after a colon; or empty."""
    if act.record is not None:
        return act.record.said.partition(": ")[2]
    found = _followed(slice_, act)
    return f"it {found.said}" if found is not None else ""


def said_of_it(slice_: Slice, act: Act) -> str:
    """What an actor has last recorded of the object of an act, before that; or empty."""
    keys = {*act.keys, *(version.subject for version in act.versions)}
    for each in reversed(slice_.knowledge.acts):
        record = each.record
        is_its_own = each.actor == act.actor and each.step <= act.decided
        if is_its_own and record is not None and not keys.isdisjoint(record.speaks_of):
            return f"it {record.said}"
    return ""


def is_worded(slice_: Slice, act: Act) -> bool:
    """Whether its actor has put that in a sentence."""
    found = _followed(slice_, act)
    return found is not None and SAID in found.facts


def _followed(slice_: Slice, act: Act) -> Record | None:
    """The record that an act follows from; None if there is none."""
    number = slice_.causality.steps[act.step].because
    records = (each.record for each in slice_.knowledge.acts if each.record is not None)
    return next((record for record in records if record.number == number), None)


def last_said(slice_: Slice, keys: Collection[str]) -> Act | None:
    """The last record, in a sentence, that speaks of one of these objects; None if none does."""
    for act in reversed(slice_.knowledge.acts):
        record = act.record
        is_said = record is not None and act.step <= slice_.end and SAID in record.facts
        if is_said and record is not None and not record.speaks_of.isdisjoint(keys):
            return act
    return None
