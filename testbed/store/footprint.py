"""Footprint: the keys that a turn touches, promised before it happens and known once it is over.

A complete search needs to know which turns commute: of two turns that do, it plays one order only.
Most keys are plain: the key of an object, a cursor, a signal. Two turns clash on a plain key if one
of them writes it and the other reads or writes it. docs/design.md lists all keys.

A log is different. `log:pods` stands for the pods as a whole, `log:pods.spec.node_name` for one
field of all pods; every commit is an addition to the logs of the fields it changes. Two commits to
two pods commute although both add to `log:pods`, for the state after them is the same either way.
Their order shows only to a reader that sees one of them and not the other. Such a reader reads the
log (a list, opening a watch) and so clashes with both; and a watch that is open already puts a
plain key of its own, `stream:<path>`, into the footprint of each commit that it hears, so that the
two commits clash after all.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.code.quick import quick
from testbed.objects.meta import changed_fields
from testbed.store.change import Change, plural_of

LOG = "log:"
"""Prefix of a log, which turns only add to. By itself it names all logs."""


TIME = "log:@time"
"""A turn that had to wait for its due time adds to it; a fault reads it. So it matters whether a
fault strikes before or after time passes, but turns due at the same instant still commute."""


HISTORY = "history"
"""Written by a turn that forgets history or depends on the order of all commits; read by every turn
that reads history."""


ORDER = frozenset({"order"})
"""Added late to the writes of every commit so far, when a turn reads the order of all commits."""

KIND, ACTOR, ENDPOINT, OTHER = "kind", "actor", "Endpoint", "name"
FAMILIES = {
    **dict.fromkeys(("log", "order"), KIND),
    **dict.fromkeys(("life", "ends", "mem", "wire", "cache", "watches", "stream"), ACTOR),
    **dict.fromkeys(("task", "spawn", "end", "alarm", "signal", "queue", "request"), ACTOR),
    **dict.fromkeys(("endpoint", "memory", "cursor"), ENDPOINT),
    **dict.fromkeys(("uids", "budget"), OTHER),
}
"""What stands before the colon of a key that is no object's, and what is named behind it."""


@quick
@attrs.frozen
class Footprint:
    """The keys that a turn reads and writes; two turns that do not clash commute.

    A log among `writes` is an addition to it. Two additions to one log do not clash.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: Footprint) -> Footprint:
        """All keys that either of the two touches."""
        if not (other.reads or other.writes):
            return self
        if not (self.reads or self.writes):
            return other
        return Footprint(self.reads | other.reads, self.writes | other.writes)

    def clashes(self, other: Footprint) -> bool:
        """Whether the order of the two turns can matter."""
        return (
            _both_write(self.writes, other.writes)
            or _meet(self.writes, other.reads)
            or _meet(other.writes, self.reads)
        )


NOTHING = Footprint()


def tail_of(reader: str, plural: str) -> Footprint:
    """What each commit of a kind touches, if a lagging reader has still to read it."""
    return Footprint(
        frozenset({f"endpoint:{reader}"}), frozenset({f"cursor:{reader}/{plural}/tail"})
    )


def _both_write(some: frozenset[str], others: frozenset[str]) -> bool:
    if some.isdisjoint(others):
        return False
    return any(not key.startswith(LOG) for key in some & others)


def _meet(written: frozenset[str], read: frozenset[str]) -> bool:
    if not written or not read:
        return False
    if not written.isdisjoint(read):
        return True
    # A log contains its fields: who reads `log:pods` sees an addition to `log:pods.spec`, and an
    # addition to all of `log:pods` (a create, a delete) is seen by readers of any of its fields.
    logs = [key for key in written if key.startswith(LOG)]
    return bool(logs) and any(
        key == LOG or any(_is_part(key, log) or _is_part(log, key) for log in logs)
        for key in read
        if key.startswith(LOG)
    )


def _is_part(key: str, of: str) -> bool:
    return key.startswith(f"{of}.")


def has_read(keys: Iterable[str], key: str) -> bool:
    """Whether a turn that read those keys saw that object: itself, or a log of its kind, of all
    fields or of some."""
    return any(
        read in (key, LOG)
        or (read.startswith(LOG) and read[len(LOG) :].partition(".")[0] == plural_of(key))
        for read in keys
    )


class Marks:
    """What the current turn has touched so far, noted by Store, Cache, signals and queues.

    A later turn can add to it (`late`), when it turns out that the order of earlier turns matters.
    Take two commits of two pods. They commute, until a watch is opened at the revision before them:
    it delivers both, in the order of their commits. So the watch adds its key to the footprints of
    the two earlier turns, and they clash from then on. Races are therefore looked for at the end of
    a Run, when all footprints are complete. `late` is not in the trace.
    """

    __slots__ = ("changes", "is_handed_on", "is_served", "late", "reads", "writes")

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.changes: list[Change] = []
        """The Store's own writes. Their keys and fields are computed only when `footprint` is
        called."""
        self.late = NOTHING
        self.is_handed_on = False
        """Whether a Cache has called handlers in this turn, which may notify any task; for
        stories."""
        self.is_served = False
        """Whether code of an Endpoint runs now that says that it marks what it remembers: then
        each of its reads of the Store leaves a mark."""

    def footprint(self) -> Footprint:
        """All that was touched. A written object also writes the log of its kind, field by
        field."""
        writes = set(self.writes)
        for change in self.changes:
            writes.add(change.key)
            log = f"{LOG}{change.key.partition('/')[0]}"
            fields = fields_changed(change)
            writes.update([log] if fields is None else [f"{log}.{path}" for path in fields])
        return Footprint(frozenset(self.reads), frozenset(writes))


def fields_changed(change: Change) -> list[str] | None:
    """The fields that a Change changes; None if it creates or deletes the object."""
    if change.old is None or change.new is None:
        return None
    return list(changed_fields(change.old.value, change.new.value))
