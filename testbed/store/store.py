"""Store: versioned immutable objects under sorted keys, one global revision, the whole history.

It is etcd's model, and tests compare it with a real etcd. A write increments the one revision. A
transaction increments it once for all that it writes, and a delete of nothing does not. Any past
state can be read until it is compacted. The Store keeps values by reference and never looks inside.

How the past is read. The Store keeps the present (`key -> Entry`, and the sorted keys) and the
Changes that led to it, each with the Entry before and after. The state at an old revision is the
present with every later Change undone: a key then held the `old` of its first Change after that
revision. So compaction only forgets Changes and never touches a live object, and a read that lags a
little costs little.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import attrgetter

from sortedcontainers import SortedList

from testbed.errors import Expired, Invalid
from testbed.objects.meta import Numbered, Revision, revision_from
from testbed.store.change import Change, Entry, Log, plural_of, revision_of
from testbed.store.footprint import HISTORY, LOG, ORDER, Footprint, Marks
from testbed.store.listeners import Listeners
from testbed.store.txn import (
    ONWARD,
    Compare,
    Delete,
    Get,
    Put,
    TxnAnswer,
    check_key,
    check_operations,
    end_of,
    one_kind,
)  # fmt: skip

__all__ = [
    "Change", "Compare", "Delete", "Entry", "Get", "Log", "Put", "Store", "TxnAnswer", "plural_of",
]  # fmt: skip


class Store:
    """The state of a World's cluster. Only an Endpoint should write it.

    Reads and writes are noted in `marks`, which the World replaces at each turn. Code of the
    harness itself (invariants, watches) reads with `peek` and `snapshot`, which note nothing.
    """

    def __init__(self, marks: Marks | None = None, *, window: int | None = None) -> None:
        """With a `window`, keep about that many of the last revisions; without, keep all."""
        if window is not None and window < 1:
            raise Invalid(f"a window of {window} revisions keeps nothing; give 1 or more, or None")
        self.marks = marks  # what takes the footprint of the current turn, if anything does
        self.window = window
        self._revision = 1
        self._compacted = 0
        self.clock: Callable[[], int] | None = None
        """Returns the virtual time of a commit; None: every commit is at 0."""
        self._committed_ms: list[int] = []
        """The time of each commit, from the first."""
        self.listeners = Listeners()
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
        # By revision the Marks of each commit's turn; those of turns that read the revision.
        self._marked: dict[int, Marks] = {}
        self._revision_readers: list[Marks] = []
        self._ordered = 1  # up to here, the order of the commits is known to matter

    def __len__(self) -> int:
        return len(self._live)

    @property
    def revision(self) -> int:
        """The Store's only clock; 1 before the first write, as in etcd."""
        return self._revision

    @property
    def compacted(self) -> int:
        """The oldest revision that can still be read; 0 while all can."""
        return self._compacted

    @property
    def next_revision(self) -> Revision:
        """The revision that the next commit will have, for an Endpoint to stamp what it writes."""
        return revision_from(self._revision + 1, is_commit=True)

    def get(self, key: str, at: int | None = None) -> Entry | None:
        """The Entry at a key, now or at an old revision; None if there is none."""
        if self.marks is not None:
            self.marks.reads.append(key if at is None else HISTORY)
        if at is None:
            return self._live.get(key)
        self.check_readable(at)
        return self.peek(key, at)

    def peek(self, key: str, at: int | None = None) -> Entry | None:
        """As `get`, for the harness: it leaves no mark. It also knows the state before the oldest
        Change that is kept, as a server does that has not read that yet."""
        if at is None:
            return self._live.get(key)
        self.check_readable(at, self._compacted - 1)
        for change in islice(self._log.changes, self._filed - self._log.first, None):
            self._past.setdefault(change.key, []).append(change)
        self._filed = self._log.end
        past = self._past.get(key, ())
        later = bisect_right(past, at, key=revision_of)
        return past[later].old if later < len(past) else self._live.get(key)

    def range(self, prefix: str, at: int | None = None, limit: int | None = None) -> list[Entry]:
        """All Entries under a prefix, sorted by key: one consistent snapshot."""
        if at is None and limit is None:
            plural, slash, _ = prefix.partition("/")
            self.mark(reads=(f"{LOG}{plural}" if slash else LOG,))
            return self._present(prefix)
        return self.between(prefix, end_of(prefix), at, limit)

    def between(
        self, start: str, end: str, at: int | None = None, limit: int | None = None
    ) -> list[Entry]:
        """All Entries from `start` up to, but not including, `end` (etcd's range), by key."""
        self.mark(reads=(f"{LOG}{one_kind(start, end) or ''}" if at is None else HISTORY,))
        if at is not None:
            self.check_readable(at)
        return self._read(start, end, at, limit)

    def snapshot(self, prefix: str, at: int | None = None, limit: int | None = None) -> list[Entry]:
        """As `range`, for the harness: it leaves no mark, and knows as much as `peek`."""
        if at is None and limit is None:
            return self._present(prefix)
        return self._read(prefix, end_of(prefix), at, limit)

    def log(self, plural: str | None = None) -> Log:
        """The kept Changes of one kind (the first segment of a key), or of all. Leaves no mark.

        It is the Store's own Log and grows with it: keep it, and never write it.
        """
        if plural is None:
            return self._log
        log = self._logs.get(plural)
        if log is None:
            log = self._logs[plural] = Log()
        return log

    def changes(self, plural: str | None = None, since: int = 0) -> list[Change]:
        """The Changes of one kind, or of all, newer than a revision, oldest first.

        Expired if one of them may have been forgotten. Those of revision `compacted` are kept, so
        the oldest `since` is `compacted - 1`, as for a watch of etcd.
        """
        self.check_since(since)
        return list(self.log(plural).after(since))

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

    def put(self, key: str, value: object) -> Entry:
        """Write one key, at a revision of its own."""
        if not key:
            check_key(key)
        if self.listeners.are_told:
            self.listeners.check_quiet()
        change, new = self._put(key, value, self._revision + 1)
        self._commit((change,))
        return new

    def delete(self, key: str) -> Entry | None:
        """Remove one key, and return its Entry; None, and no new revision, if there was none."""
        check_key(key)
        self.listeners.check_quiet()
        old = self._live.get(key)
        if old is not None:
            self._commit((self._drop(old, self._revision + 1),))
        else:
            self.mark(reads=(key,))
        return old

    def txn(
        self,
        compares: Iterable[Compare] = (),
        then: Sequence[Put | Delete | Get] = (),
        otherwise: Sequence[Put | Delete | Get] = (),
    ) -> TxnAnswer:
        """Perform `then` if every Compare holds, else `otherwise`: all of it or, on error, nothing.
        As in etcd, a Get sees the operations before it in the same transaction, unless it asks for
        an old revision. No key may be put twice, nor both put and deleted.
        """
        # All that can fail is checked before the first write, so nothing is ever rolled back.
        self.listeners.check_quiet()
        check_operations(then)
        check_operations(otherwise)
        failed = [compare for compare in compares if not compare.holds(self.get(compare.key))]
        operations = otherwise if failed else then
        for operation in operations:
            if isinstance(operation, Get) and operation.at is not None:
                self.check_readable(operation.at)
        changes: list[Change] = []
        answers = tuple([self._perform(operation, changes) for operation in operations])
        if changes:
            self._commit(changes)
        return TxnAnswer(not failed, self._revision, answers)

    def compact(self, revision: int) -> None:
        """Forget all states before that revision; the state at it stays readable."""
        self.listeners.check_quiet()
        self.mark(reads=(LOG, HISTORY))
        if revision <= self._compacted:
            raise self._expired(revision)
        if revision > self._revision:
            raise self._future(revision)
        # A list at an old revision undoes Changes, and a watch replays them: half of them are
        # no use. So both are refused with Expired, and a Cursor that is behind ends its watches.
        self.look_back()
        self._compacted = revision
        forgotten = self._log.forget_before(revision)
        self._past.clear()
        self._filed = self._log.first
        plurals = list(dict.fromkeys([plural_of(change.key) for change in forgotten]))
        for plural in plurals:
            self._logs[plural].forget_before(revision)
        self.listeners.tell_forgotten(plurals)

    def heard(self, change: Change, by: str) -> None:
        """Note that a reader with the key `by` hears this Change, now or long after its commit. To
        such a reader the order of commits matters, so they clash from now on (see `Marks`)."""
        marks = self._marked.get(change.revision)
        if marks is self.marks and marks is not None:
            marks.writes.append(by)
        elif marks is not None:
            marks.late |= Footprint(writes=frozenset({by}))

    def look_back(self) -> None:
        """Note that the order of all commits so far matters to the current turn."""
        self.mark(reads=(LOG,), writes=(HISTORY,))
        for revision in range(self._ordered + 1, self._revision + 1):
            if revision in self._marked:
                self._marked[revision].late |= Footprint(writes=ORDER)
        while self._revision_readers:
            self._revision_readers.pop().late |= Footprint(reads=ORDER)
        self._ordered = self._revision

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

    def first_after(self, ms: int) -> int:
        """The first revision, from 2, that was, or will be, committed after that time."""
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
            for change in self.log(one_kind(start, end)).after(at):
                key = change.key
                if key not in was and start <= key and (to is None or key < to):
                    was[key] = change.old
        if not was:
            return list(map(self._live.__getitem__, islice(keys, limit or None)))
        found = [self._live[key] for key in keys if key not in was]
        found += [entry for entry in was.values() if entry is not None]
        return sorted(found, key=attrgetter("key"))[: limit or None]

    def _perform(self, operation: Put | Delete | Get, changes: list[Change]) -> tuple[Entry, ...]:
        """Perform one operation of a transaction, and add its Changes to `changes`."""
        revision = self._revision + 1
        if isinstance(operation, Put):
            change, new = self._put(operation.key, operation.value, revision)
            changes.append(change)
            return (new,)
        at, limit = (operation.at, operation.limit) if isinstance(operation, Get) else (None, None)
        if operation.end is None:
            entry = self.get(operation.key, at)
            found = [] if entry is None else [entry]
        else:
            found = self.between(operation.key, operation.end, at, limit)
        if isinstance(operation, Delete):
            changes.extend([self._drop(old, revision) for old in found])
        return tuple(found)

    def _put(self, key: str, value: object, revision: int) -> tuple[Change, Entry]:
        old = self._live.get(key)
        if old is None:
            self._keys.add(key)
            new = Entry(key, value, revision, revision, 1)
        else:
            key = old.key  # one string per key, however often it is written
            new = Entry(key, value, old.created, revision, old.version + 1)
        self._live[key] = new
        return self._record(key, old, new, revision), new

    def _drop(self, old: Entry, revision: int) -> Change:
        del self._live[old.key]
        self._keys.remove(old.key)
        return self._record(old.key, old, None, revision)

    def _record(self, key: str, old: Entry | None, new: Entry | None, revision: int) -> Change:
        log = self._log
        change = Change(revision, key, old, new, log.end + 1)
        log.changes.append(change)
        plural = key.partition("/")[0]
        kind = self._logs.get(plural)
        if kind is None:
            kind = self._logs[plural] = Log()
        kind.changes.append(change)
        return change

    def _commit(self, changes: Sequence[Change]) -> None:
        """Make the Changes of a transaction the present, at one revision, and notify listeners."""
        self._revision += 1
        self._committed_ms.append(0 if self.clock is None else self.clock())
        marks = self.marks
        if marks is not None:
            self._marked[self._revision] = marks
            marks.changes.extend(changes)
            if self.window is not None:  # any commit may trigger a compaction
                marks.writes.append(HISTORY)
        self.listeners.tell(changes)
        # Compacting only at twice the window spreads the cost of one compaction over many writes.
        if self.window is not None and self._revision - self._compacted > 2 * self.window:
            self.compact(self._revision - self.window)

    def _expired(self, asked: int) -> Expired:
        kept = f"history is kept from revision {self._compacted} on; list again"
        return Expired(Numbered(f"too old resource version: {asked} ({self._compacted}): {kept}"))

    def _future(self, asked: int) -> Invalid:
        self.mark_revision_read()
        said = f"revision {asked} is in the future: the Store is at {self._revision}"
        return Invalid(Numbered(said))
