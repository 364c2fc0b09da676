"""Footprint: what a turn touches, told before it happens and known once it is over."""

from __future__ import annotations

import attrs

from testbed.objects.meta import changed_fields
from testbed.store.change import Change

LOG = "log:"
"""Begins the name of a log, which is only ever added to; by itself it names every log."""


TIME = "log:@time"
"""What had to wait for its time adds to it, a fault reads it: it strikes before time passes or
after, while what is due at one instant may come in any order."""


HISTORY = "history"
"""Written by whatever forgets the past, or depends on the order of all that was committed; read
by whoever reads the past."""


@attrs.frozen
class Footprint:
    """The keys a turn reads and writes; two turns that do not clash commute.

    To write a log (`log:pods`: every object of a kind; `log:pods.spec.node_name`: one field of
    them) is to add to it: two additions clash only if somebody hears both, and then he says so, by
    a key of his own. docs/design.md tells of all the keys.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: Footprint) -> Footprint:
        """What either of them touches."""
        return Footprint(self.reads | other.reads, self.writes | other.writes)

    def clashes(self, other: Footprint) -> bool:
        """Whether their order can matter: one writes what the other reads or writes."""
        return (
            _both_write(self.writes, other.writes)
            or _meet(self.writes, other.reads)
            or _meet(other.writes, self.reads)
        )


NOTHING = Footprint()


def _both_write(some: frozenset[str], others: frozenset[str]) -> bool:
    if some.isdisjoint(others):
        return False
    return any(not key.startswith(LOG) for key in some & others)


def _meet(written: frozenset[str], read: frozenset[str]) -> bool:
    if not written or not read:
        return False
    if not written.isdisjoint(read):
        return True
    logs = [key for key in written if key.startswith(LOG)]
    return bool(logs) and any(
        key == LOG or any(_is_part(key, log) or _is_part(log, key) for log in logs)
        for key in read
        if key.startswith(LOG)
    )


def _is_part(key: str, of: str) -> bool:
    return key.startswith(f"{of}.")


class Marks:
    """What the turn under way has touched so far, as Store, Cache, signal and queue note it.

    What is `late` was added by a later turn, one to which the order of earlier ones turns out to
    matter: a watch that is opened on the past hears what was committed since. No trace has it.
    """

    __slots__ = ("changes", "is_handed_on", "late", "reads", "writes")

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.changes: list[Change] = []
        """The Store's own writes; their keys and changed fields are worked out only if asked."""
        self.late = NOTHING
        self.is_handed_on = False
        """Whether a Cache has called handlers, who may tell any task; for stories."""

    def footprint(self) -> Footprint:
        """What was touched, in full: a written object also writes its kind's log, by field."""
        writes = set(self.writes)
        for change in self.changes:
            writes.add(change.key)
            log = f"{LOG}{change.key.partition('/')[0]}"
            fields = fields_changed(change)
            writes.update([log] if fields is None else [f"{log}.{path}" for path in fields])
        return Footprint(frozenset(self.reads), frozenset(writes))


def fields_changed(change: Change) -> list[str] | None:
    """The fields a Change differs in; None if the object has come to be, or is gone."""
    if change.old is None or change.new is None:
        return None
    return list(changed_fields(change.old.value, change.new.value))
