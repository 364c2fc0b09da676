"""Store: versioned immutable objects under sorted keys, one global revision, the whole history.

It is etcd's model, and tests compare it with a real etcd. A write increments the one revision. A
transaction increments it once for all that it writes, and a delete of nothing does not. Any past
state can be read until it is compacted. The Store keeps values by reference and never looks inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from testbed.errors import Invalid, ScenarioError
from testbed.objects.meta import Revision, revision_from
from testbed.store.change import Change, Entry, Log, plural_of
from testbed.store.footprint import HISTORY, LOG, ORDER, Footprint, Marks
from testbed.store.kept import KeptState, Unmarked
from testbed.store.listeners import Listeners
from testbed.store.txn import (
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

LOG_IS_KEPT = (
    "an Endpoint that declares `marks_memory` has taken the Store's log, which shows all that is "
    "committed from then on: expected reads that leave a mark.\n"
    "Next: read with store.get(…), store.range(…) or store.changes(…); or with "
    "store.unmarked.log(…), and mark by store.look_back() what depends on it; or declare nothing."
)


class Store(KeptState):
    """The state of a World's cluster. Only an Endpoint should write it.

    Reads and writes are noted in `marks`, which the World replaces at each turn. Code of the
    harness itself (invariants, watches) reads with `peek` and `snapshot`, which note nothing.
    """

    def __init__(self, marks: Marks | None = None, *, window: int | None = None) -> None:
        """With a `window`, keep about that many of the last revisions; without, keep all."""
        if window is not None and window < 1:
            raise Invalid(f"a window of {window} revisions keeps nothing; give 1 or more, or None")
        super().__init__(marks)
        self.window = window
        self.clock: Callable[[], int] | None = None
        """Returns the virtual time of a commit; None: every commit is at 0."""
        self.listeners = Listeners()
        # By revision the Marks of each commit's turn.
        self._marked: dict[int, Marks] = {}
        self._ordered = 1  # up to here, the order of the commits is known to matter
        self.has_given_log = False
        """Whether anybody was given a Log, since this was last set to False."""

    @property
    def unmarked(self) -> Unmarked:
        """The Store for an Endpoint that marks its reads by itself."""
        return Unmarked(self)

    def __len__(self) -> int:
        self._counted()
        return len(self._live)

    @property
    def revision(self) -> int:
        """The Store's only clock; 1 before the first write, as in etcd."""
        self._counted()
        return self._revision

    @property
    def compacted(self) -> int:
        """The oldest revision that can still be read; 0 while all can."""
        self._counted()
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
        return self._peek(key, at)

    def peek(self, key: str, at: int | None = None) -> Entry | None:
        """As `get`, for the harness: it leaves no mark. It also knows the state before the oldest
        Change that is kept, as a server does that has not read that yet."""
        marks = self.marks
        is_served = marks is not None and marks.is_served
        return self.get(key, at) if is_served else self._peek(key, at)

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
        marks = self.marks
        if marks is not None and marks.is_served:
            return self.range(prefix, at, limit)
        return self._snapshot(prefix, at, limit)

    def log(self, plural: str | None = None) -> Log:
        """The kept Changes of one kind (the first segment of a key), or of all. Leaves no mark.

        It is the Store's own Log and grows with it: keep it, and never write it. So an Endpoint
        that says that it marks what it remembers may not have it.
        """
        if self._is_served():
            raise ScenarioError(LOG_IS_KEPT)
        self.has_given_log = True
        return self._log_of(plural)

    def changes(self, plural: str | None = None, since: int = 0) -> list[Change]:
        """The Changes of one kind, or of all, newer than a revision, oldest first.

        Expired if one of them may have been forgotten. Those of revision `compacted` are kept, so
        the oldest `since` is `compacted - 1`, as for a watch of etcd.
        """
        self._counted()
        self.check_since(since)
        return list(self._log_of(plural).after(since))

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

    def first_after(self, ms: int) -> int:
        """The first revision, from 2, that was, or will be, committed after that time."""
        self._counted()
        return self._first_after(ms)

    # The harness's reads leave no mark. To whoever serves, the same reads leave theirs, so that no
    # Endpoint sees by them what its footprint does not say.
    def _is_served(self) -> bool:
        return self.marks is not None and self.marks.is_served

    def _counted(self) -> None:
        """Note that what is given now depends on the order of all commits, if an Endpoint asks."""
        if self._is_served():
            self.look_back()

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
            new = Entry(key, value, old._created, revision, old.version + 1)
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
