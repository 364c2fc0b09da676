"""Entry: what a write left at a key. Change: what the write did. Log: the Changes of one kind."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter

import attrs

from testbed.code.quick import quick
from testbed.objects.meta import looked

revision_of = attrgetter("revision")


@quick
@attrs.frozen(weakref_slot=False)
class Entry:
    """One object as one write left it."""

    key: str
    """Where it stands: `pods/default/p1`."""
    value: object
    """The object as it was written. Immutable, and shared by reference with all readers."""
    _created: int
    _revision: int
    version: int
    """How many writes this life of the key has seen, from 1."""

    @property
    def created(self) -> int:
        """The revision at which this life of the key began (etcd's create_revision)."""
        looked()
        return self._created

    @property
    def revision(self) -> int:
        """The revision of this write (etcd's mod_revision)."""
        looked()
        return self._revision


@quick
@attrs.frozen(weakref_slot=False)
class Change:
    """What one write did to one key; the atom of history and of every watch."""

    revision: int
    """The revision of the write."""
    key: str
    """What was written: `pods/default/p1`."""
    old: Entry | None
    """The Entry before, with the object as its `value`; None if the key was absent: a creation."""
    new: Entry | None
    """The Entry now, with the object as its `value`; None if the key is absent: a deletion."""
    serial: int
    """Its number in the whole history, from 1. Changes of one transaction share a revision, never a
    serial."""

    @property
    def before(self) -> object:
        """The object before; None for a creation."""
        return None if self.old is None else self.old.value

    @property
    def after(self) -> object:
        """The object now; None for a deletion."""
        return None if self.new is None else self.new.value


class Log:
    """The Changes of one kind that are still kept. The place of a Change never moves."""

    # A Cursor remembers a place, not an index. Compaction deletes from the front of the list, so
    # `first` moves on and every place still means the same Change. A Cursor whose place is before
    # `first` has lost Changes that it had not read.

    __slots__ = ("changes", "first")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.first = 0
        """The place of the oldest Change kept: the number of Changes forgotten so far."""

    @property
    def end(self) -> int:
        """The place of the next Change to come."""
        return self.first + len(self.changes)

    @property
    def places(self) -> range:
        """The places of all Changes kept."""
        return range(self.first, self.first + len(self.changes))

    def __getitem__(self, place: int) -> Change:
        return self.changes[place - self.first]

    def place_after(self, revision: int) -> int:
        """The place of the first kept Change that is newer than `revision`."""
        return self.first + bisect_right(self.changes, revision, key=revision_of)

    def after(self, revision: int) -> Iterator[Change]:
        """The kept Changes that are newer than `revision`, oldest first."""
        # By index: `islice` would step over every older Change first.
        places = range(self.place_after(revision) - self.first, len(self.changes))
        return map(self.changes.__getitem__, places)

    def forget_before(self, revision: int) -> list[Change]:
        """Remove the Changes older than `revision`, and return them."""
        count = bisect_left(self.changes, revision, key=revision_of)
        forgotten = self.changes[:count]
        del self.changes[:count]
        self.first += count
        return forgotten


def plural_of(key: str) -> str:
    """The kind of a key, its first segment: `pods` of `pods/default/p1`."""
    return key.partition("/")[0]
