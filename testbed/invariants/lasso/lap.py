"""Lap: the writes between two moments that are alike, told so that each lap says the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import attrs

from testbed.code.quick import quick
from testbed.invariants.lasso.renaming import Renaming
from testbed.invariants.lasso.shown import shown
from testbed.objects.meta import changed_fields, field_of
from testbed.store.change import Change
from testbed.turns.found import About

NO_LASSO = "no_lasso"
"""The name of the claim that there is no lap."""
AGAIN = 3
"""How often the same lap must be seen again before it is a proof."""
SHOWN_MAX = 6
"""The most writes of a lap that are listed one by one."""


@quick
@attrs.frozen
class Write:
    """One write that changed something, and the actor that wrote it."""

    who: str
    change: Change
    now_ms: int

    @cached_property
    def fields(self) -> list[str]:
        """Return what it changed of an object that was there before and after."""
        old, new = self.change.old, self.change.new
        return list(changed_fields(old.value, new.value)) if old and new else []


def sentences(
    writes: Sequence[Write], names: Renaming, without: Collection[tuple[str, str]] = ()
) -> list[str]:
    """The writes of a lap, a sentence each; `without` has the fields, by key and path, that are
    another in each lap."""
    # The last writer of a field before the lap is its last writer in the lap before.
    owners = {(w.change.key, path): w.who for w in writes for path in w.fields}
    return [_sentence(write, owners, names, without) for write in writes]


def _sentence(
    write: Write,
    owners: dict[tuple[str, str], str],
    names: Renaming,
    without: Collection[tuple[str, str]],
) -> str:
    """Return what a write did, and over which actor's work, in a sentence."""
    who, change = write.who, write.change
    key = names.unnamed_key(change.key)
    if change.old is None or change.new is None:
        return f"{who} {'creates' if change.old is None else 'deletes'} {key}"
    old, new, fields = change.old.value, change.new.value, []
    others: dict[str, None] = {}
    fields_told = [path for path in write.fields if (change.key, path) not in without]
    if not fields_told:
        return f"{who} renews {key} {', '.join(write.fields)}"
    for path in fields_told:
        values = (shown(field_of(item, path), path, write.now_ms) for item in (old, new))
        was, now = map(names.unnamed, values)
        fields.append(f"{path} {was} → {now}")
        owner, owners[change.key, path] = owners[change.key, path], who
        others |= {} if owner == who else {owner: None}
    over = f" (set by {' and '.join(others)})" if others else ""
    return f"{who} sets {key} {', '.join(fields)}{over}"


def about_lap(writes: Sequence[Write], without: Collection[tuple[str, str]] = ()) -> About:
    """What a lap is about: what is written in it, which fields of that, and who writes."""
    keys = [write.change.key for write in writes]
    told = [path for w in writes for path in w.fields if (w.change.key, path) not in without]
    return About(keys, told, (write.who for write in writes))


def listed(lap: Sequence[str]) -> str:
    """The sentences of a lap in one, no more than a reader wants."""
    more = len(lap) - SHOWN_MAX
    return "; ".join([*lap[:SHOWN_MAX], *[f"… {more} more"] * (more > 0)])


def duration(ms: int) -> str:
    """Return how long a lap takes, in words."""
    return f"{ms:,} ms" if ms else "no time at all"


def ending(is_hushed: bool, named_anew: Iterable[str]) -> str:
    """Return what the words about a lap end with: what was taken to mean nothing."""
    hushed = ", the messages of conditions" if is_hushed else ""
    names = " and ".join(named_anew)
    return f"Taken to mean nothing: revisions, uids{hushed}" + (
        f", the names of {names}" if names else ""
    )
