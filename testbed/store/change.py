"""Change: what one write did to one key. Entry: what it left. Log: the Changes of one kind."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter

import attrs

revision_of = attrgetter("revision")


@attrs.frozen(weakref_slot=False)
class Entry:
    """One object as one write left it."""

    key: str
    value: object
    """Immutable, and shared with everyone who reads it."""
    created: int
    """The revision at which this life of the key began (etcd's create_revision)."""
    revision: int
    """The revision of this write (etcd's mod_revision)."""
    version: int
    """How many writes this life of the key has seen, from 1."""


@attrs.frozen(weakref_slot=False)
class Change:
    """What one write did to one key; the atom of history and of every watch."""

    revision: int
    key: str
    old: Entry | None
    """None if the key was absent: a creation."""
    new: Entry | None
    """None if the key is absent now: a deletion."""
    serial: int
    """Its place in the whole history, from 1; Changes of one transaction share a revision."""


class Log:
    """The Changes of one kind that are still kept, each at the place it keeps for ever."""

    __slots__ = ("changes", "first")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.first = 0
        """The place of the oldest Change kept: how many were forgotten before it."""

    @property
    def end(self) -> int:
        """The place the next Change will have."""
        return self.first + len(self.changes)

    def __getitem__(self, place: int) -> Change:
        return self.changes[place - self.first]

    def place_after(self, revision: int) -> int:
        """The place of the first Change kept that is newer than that revision."""
        return self.first + bisect_right(self.changes, revision, key=revision_of)

    def after(self, revision: int) -> Iterator[Change]:
        """The Changes kept that are newer than that revision, oldest first."""
        # Place by place: an islice walks there from the oldest.
        places = range(self.place_after(revision) - self.first, len(self.changes))
        return map(self.changes.__getitem__, places)

    def forget_before(self, revision: int) -> list[Change]:
        """Forget the Changes older than that revision, and hand them back."""
        count = bisect_left(self.changes, revision, key=revision_of)
        forgotten = self.changes[:count]
        del self.changes[:count]
        self.first += count
        return forgotten
