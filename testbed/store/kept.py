"""Kept: what a Store keeps, the present and the Changes that led to it, read without a mark.

The present is `key -> Entry`, and the sorted keys; each Change has the Entry before and after. The
state at an old revision is the present with every later Change undone: a key then held the `old` of
its first Change after that revision. So compaction only forgets Changes and never touches a live
object, and a read that lags a little costs little.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import Any

from sortedcontainers import SortedList

from testbed.errors import Expired, Invalid
from testbed.objects.meta import Numbered
from testbed.store.change import Change, Entry, Log, revision_of
from testbed.store.footprint import HISTORY, Marks
from testbed.store.txn import ONWARD, end_of, one_kind


class KeptState:
    """The state of a Store, and the reads of it that leave no mark."""

    def __init__(self, marks: Marks | None) -> None:
        self.marks = marks  # what takes the footprint of the current turn, if anything does
        self._revision = 1
        self._compacted = 0
        self._committed_ms: list[int] = []
        """The time of each commit, from the first."""
        self._live: dict[str, Entry] = {}
        self._keys: SortedList[str] = SortedList()
        self._log = Log()
        self._logs: dict[str, Log] = {}
        # The Changes of each key, for reads of one key at an old revision. Only such a read sorts
        # them in, up to the place `_filed`, so that writes do not pay for it.
        self._past: dict[str, list[Change]] = {}
        self._filed = 0
        # By prefix what was last read there, with the log of its kind and its length by then.
        self._listed: dict[str, tuple[Log, int, list[Entry]]] = {}
        # The Marks of turns that read the revision.
        self._revision_readers: list[Marks] = []

    def check_since(self, since: int) -> None:
        """Expired if a Change after `since` may have been compacted."""
        if since + 1 < self._compacted:
            raise self._expired(since)

    def check_readable(self, at: int, oldest: int | None = None) -> None:
        """Expired if the state at that revision is compacted, Invalid if there was none."""
        if at > self._revision:
            raise self._future(at)
        if at < 1:
            raise Invalid(f"there is no revision {at}: the first is 1; leave it out to read now")
        if at < (self._compacted if oldest is None else oldest):
            raise self._expired(at)

    def mark(self, *, reads: Iterable[str] = (), writes: Iterable[str] = ()) -> None:
        """Note that the current turn touches these keys, too."""
        if self.marks is not None:
            self.marks.reads.extend(reads)
            self.marks.writes.extend(writes)

    def mark_revision_read(self) -> None:
        """Note that the current turn gives the present revision to a reader."""
        if self.marks is not None:
            self.marks.reads.append(HISTORY)
            self._revision_readers.append(self.marks)

    def _peek(self, key: str, at: int | None) -> Entry | None:
        if at is None:
            return self._live.get(key)
        self.check_readable(at, self._compacted - 1)
        for change in islice(self._log.changes, self._filed - self._log.first, None):
            self._past.setdefault(change.key, []).append(change)
        self._filed = self._log.end
        past = self._past.get(key, ())
        later = bisect_right(past, at, key=revision_of)
        return past[later].old if later < len(past) else self._live.get(key)

    def _snapshot(self, prefix: str, at: int | None, limit: int | None = None) -> list[Entry]:
        if at is None and limit is None:
            return self._present(prefix)
        return self._read(prefix, end_of(prefix), at, limit)

    def _log_of(self, plural: str | None) -> Log:
        if plural is None:
            return self._log
        log = self._logs.get(plural)
        if log is None:
            log = self._logs[plural] = Log()
        return log

    def _first_after(self, ms: int) -> int:
        return bisect_right(self._committed_ms, ms) + 2

    def _present(self, prefix: str) -> list[Entry]:
        """What is under a prefix now."""
        # Claims, and servers whose cache follows, ask for the same again and again: it is what it
        # was unless there is a new Change of that kind.
        known = self._listed.get(prefix)
        if known is not None:
            log, end, found = known
            if log.end == end:
                return found.copy()
        plural, slash, _ = prefix.partition("/")
        if not slash:
            return self._read(prefix, end_of(prefix), None, None)
        kind = self._logs.get(plural)
        if kind is None:
            return []
        found = self._read(prefix, end_of(prefix), None, None)
        self._listed[prefix] = (kind, kind.end, found)
        return found.copy()

    def _read(self, start: str, end: str, at: int | None, limit: int | None) -> list[Entry]:
        to = None if end == ONWARD else end
        keys = () if to is not None and to <= start else self._keys.irange(start, to, (True, False))
        # The `old` of a key's first Change after `at` is what it held then.
        was: dict[str, Entry | None] = {}
        if at is not None:
            self.check_readable(at, self._compacted - 1)
            for change in self._log_of(one_kind(start, end)).after(at):
                key = change.key
                if key not in was and start <= key and (to is None or key < to):
                    was[key] = change.old
        if not was:
            return list(map(self._live.__getitem__, islice(keys, limit or None)))
        found = [self._live[key] for key in keys if key not in was]
        found += [entry for entry in was.values() if entry is not None]
        return sorted(found, key=attrgetter("key"))[: limit or None]

    def _expired(self, asked: int) -> Expired:
        kept = f"history is kept from revision {self._compacted} on; list again"
        return Expired(Numbered(f"too old resource version: {asked} ({self._compacted}): {kept}"))

    def _future(self, asked: int) -> Invalid:
        self.mark_revision_read()
        said = f"revision {asked} is in the future: the Store is at {self._revision}"
        return Invalid(Numbered(said))


class Unmarked:
    """What an Endpoint may read of the Store without a mark, `store.unmarked`, on its own word.

    A complete search believes it: whoever reads here says with `store.mark` and `store.look_back`
    what the answer depends on. All other reads of an Endpoint say so themselves.
    """

    __slots__ = ("_store",)

    def __init__(self, store: KeptState) -> None:
        self._store = store

    @property
    def revision(self) -> int:
        """The Store's revision."""
        return self._store._revision

    @property
    def compacted(self) -> int:
        """The oldest revision that can still be read; 0 while all can."""
        return self._store._compacted

    def peek(self, key: str, at: int | None = None) -> Entry | None:
        """The Entry at a key."""
        return self._store._peek(key, at)

    def snapshot(self, prefix: str, at: int | None = None, limit: int | None = None) -> list[Entry]:
        """All Entries under a prefix."""
        return self._store._snapshot(prefix, at, limit)

    def log(self, plural: str | None = None) -> Log:
        """The kept Changes of one kind, or of all."""
        return self._store._log_of(plural)

    def first_after(self, ms: int) -> int:
        """The first revision that was committed after that time."""
        return self._store._first_after(ms)

    def upto(self, cursor: Any) -> int:
        """How far that Cursor has read."""
        upto: int = cursor._upto
        return upto
