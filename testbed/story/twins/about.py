"""About: the writes and records without which a Violation would not be there.

1. Each commit alone: the claim is asked as if it had not been made.
2. If there is none: each with what its task recorded later, then with all that its task did later;
   then two commits; then single records; then the objects that were there from the beginning.
3. Of a commit that matters, each field alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import attrs

from testbed.store.change import Change, plural_of
from testbed.story.twins.asking_again import AskingAgain
from testbed.story.twins.history import WHOLE
from testbed.story.twins.side import ASIDE, TracedEffect

COMMITS_MAX = 160
"""Only the last commits are left out one by one, at most this many."""
PAIRS_MAX = 800
"""At most this many pairs of commits are left out."""
ALONE, WITH_RECORDS, WITH_LATER, PAIR, RECORDED, INITIAL = (
    "alone", "with its records", "with all its task did", "pair", "record", "initial",
)  # fmt: skip


@attrs.frozen(eq=False)
class Breaking:
    """A commit, or a record, without which the claim would hold."""

    effects: tuple[TracedEffect, ...]
    fields: tuple[tuple[str, str], ...] = ()
    """The fields of it that matter, each with the key of its object, if some do alone."""
    how: str = ALONE
    initial: tuple[Change, ...] = ()


def breaking(asking: AskingAgain) -> list[Breaking]:
    """What the Violation is about, newest first; empty if the claim cannot be asked so."""
    if not asking.can_be_asked:
        return []
    for some in (_alone, _with_task, _pairs, _records, _initial):
        if found := list(some(asking)):
            return found
    return []


def commits(asking: AskingAgain) -> list[list[TracedEffect]]:
    """What was written at each revision by then, newest first, without what only tells."""
    at: dict[int, list[TracedEffect]] = {}
    serials = {change.serial for change in asking.changes}
    for effect in asking.side.effects:
        if effect.change is not None and not effect.is_aside and effect.change.serial in serials:
            at.setdefault(effect.change.revision, []).append(effect)
    return [at[revision] for revision in sorted(at, reverse=True)][:COMMITS_MAX]


def _whole(effects: list[TracedEffect]) -> dict[int, str]:
    return {each.change.serial: WHOLE for each in effects if each.change is not None}


def _alone(asking: AskingAgain) -> Iterator[Breaking]:
    for effects in commits(asking):
        if not asking.breaks(_whole(effects)):
            yield Breaking(tuple(effects), tuple(_fields(asking, effects)))


def _fields(asking: AskingAgain, effects: list[TracedEffect]) -> Iterator[tuple[str, str]]:
    for effect in effects:
        change = effect.change
        if change is None or change.old is None or change.new is None:
            continue
        for field in asking.side.fields(change.before, change.after):
            if not asking.breaks({change.serial: field}):
                yield effect.key, field


def _with_task(asking: AskingAgain) -> Iterator[Breaking]:
    some = commits(asking)
    for with_writes in (False, True):
        found = False
        for effects in some:
            act = effects[0].act
            later = [
                each
                for each in asking.side.effects
                if each.act.path == act.path and each.step > act.step
            ]
            out = {each.record.number for each in later if each.record is not None}
            writes = [each for each in later if each.record is None] if with_writes else []
            # Where the rest alone broke it, the commit did not.
            is_it = not asking.breaks(_whole([*effects, *writes]), out)
            if (out or writes) and is_it and asking.breaks(_whole(writes), out):
                found = True
                yield Breaking(tuple(effects), how=WITH_LATER if with_writes else WITH_RECORDS)
        if found:
            return


def _pairs(asking: AskingAgain) -> Iterator[Breaking]:
    for one, other in islice(combinations(commits(asking), 2), PAIRS_MAX):
        if not asking.breaks(_whole([*one, *other])):
            yield Breaking((*one, *other), how=PAIR)
            return


def _records(asking: AskingAgain) -> Iterator[Breaking]:
    for effect in reversed(asking.side.effects):
        if effect.record is not None and not asking.breaks({}, {effect.record.number}):
            yield Breaking((effect,), how=RECORDED)


def _initial(asking: AskingAgain) -> Iterator[Breaking]:
    for change in asking.side.initial.values():
        if plural_of(change.key) not in ASIDE and not asking.breaks({change.serial: WHOLE}):
            yield Breaking((), how=INITIAL, initial=(change,))
