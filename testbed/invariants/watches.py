"""Watches are gap-free, in order, once each, and never silent (INV-6, API-41, API-45, API-6)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import ClassVar

from testbed.client.open_watch import OpenWatch
from testbed.invariant import DELIVERY, Evidence, Invariant
from testbed.objects.meta import Object, Revision, reader_of
from testbed.store.change import Change, Entry, Log, revision_of
from testbed.store.delivery import ADDED, DELETED, MODIFIED, Delivery
from testbed.store.selector import touches
from testbed.store.store import Store
from testbed.turns.found import MISSING, UNEQUAL, Found, Wrong
from testbed.turns.trace import Step


class WatchesAreGapFree(Invariant):
    """Each delivery is the next matching Change of the Store's history after the one before, and
    shows what that Change has left. At rest, no watch has left out a Change. It is checked by a
    naive scan of the history; for a watch that selects by a value, of the Changes with it."""

    name = "watches_are_gap_free"
    breach_reason = UNEQUAL
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY})

    def __init__(self) -> None:
        self._told: dict[OpenWatch, _Told] = {}
        """How far each stream has delivered."""
        self._filed: dict[tuple[str, str], _Filed] = {}
        """The Changes of a kind by their values at a path; both are of streams that select so."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for stream, delivery in evidence.wire.streams.delivered:
            if wrong := self._check(stream, delivery, evidence.store):
                return wrong
        return None

    def end(self, evidence: Evidence) -> Wrong:
        for stream in evidence.wire.streams.open:
            owed = None
            if stream.is_silent:
                owed = self._next(stream, evidence.store, self._told_by(stream))
            if owed is not None:
                text = f"{stream.path} is silent, and was never told of {_named(owed)}"
                return _told(stream, text, owed, reason=MISSING)
        return None

    def _check(self, stream: OpenWatch, delivery: Delivery, store: Store) -> Wrong:
        if delivery.error is not None:
            self._told.pop(stream, None)
            return None
        # Three kinds of deliveries. What a watch begins with has no serial: it is no Change, but
        # an object as it was when the watch was opened. A bookmark has no Change, and promises
        # that nothing up to its revision is still to come. All else must be the Change that a
        # scan of the history finds next, compared by serial: a transaction has several Changes
        # of one revision, so the revision alone could not show that one of them was skipped.
        shown = delivery.change
        if shown is not None and not shown.serial:
            return _check_first(stream, shown, store)
        told = self._told_by(stream)
        expected, before = self._next(stream, store, told), told.revision
        if shown is None:
            upto = int(str(delivery.revision))
        else:
            upto, told.serial = shown.revision, shown.serial
        told.revision = upto
        if upto < before:
            return _told(stream, f"{stream.path} was told of rv {upto} after rv {before}", shown)
        if shown is None:
            if expected is not None and expected.revision <= upto:
                text = f"{stream.path} got a bookmark at rv {upto}, before {_named(expected)}"
                return _told(stream, text, expected)
            return None
        if expected is None or expected.serial != shown.serial:
            wanted = _named(expected) if expected is not None else "nothing"
            text = f"{stream.path} was told of {_named(shown)}, and {wanted} was next"
            return _told(stream, text, shown, expected)
        return _check_shown(stream, delivery, expected)

    def _told_by(self, stream: OpenWatch) -> _Told:
        told = self._told.get(stream)
        if told is None:
            told = self._told[stream] = _Told(stream.opened_at)
        return told

    def _next(self, stream: OpenWatch, store: Store, told: _Told) -> Change | None:
        """The next Change of the history that this watch owes its reader."""
        log, filed_under = store.log(stream.plural), stream.watch.selector.filed_under
        if filed_under is None:
            changes = log.changes
            for index in range(max(told.place - log.first, 0), len(changes)):
                if _owes(stream, told.serial, changes[index]):
                    told.place = log.first + index
                    return changes[index]
            told.place = log.end
            return None
        # A thousand kubelets each watch their own pods. If each of their deliveries were looked for
        # among the pods of all nodes, a Run would cost as much as the square of its nodes.
        path, value = filed_under
        filed = self._filed.get((stream.plural, path))
        if filed is None:
            filed = self._filed[stream.plural, path] = _Filed(path)
        filed.read(log)
        for each in filed.after(value, told.revision - 1):
            if _owes(stream, told.serial, each):
                return each
        return None


class _Told:
    """How far one stream has delivered."""

    __slots__ = ("place", "revision", "serial")

    def __init__(self, revision: int) -> None:
        self.revision = revision
        """Up to here its reader knows all."""
        self.serial = 0
        """The number of the last Change that was delivered."""
        self.place = 0
        """Before this place of the Log of its kind is nothing that it still owes."""


def _owes(stream: OpenWatch, serial: int, change: Change) -> bool:
    """Whether a watch that has delivered up to that serial is still to deliver this Change."""
    if change.serial <= serial or change.revision <= stream.opened_at:
        return False
    watch = stream.watch
    was, is_now = watch.selector.has(change.old), watch.selector.has(change.new)
    if was and is_now:
        return watch.view.fields is None or touches(watch.view.fields, change)
    return was or is_now


class _Filed:
    """The kept Changes of one kind, by each value that the object had or has at a path."""

    def __init__(self, path: str) -> None:
        self._value_of = reader_of(path)
        self._by_value: dict[object, list[Change]] = {}
        self._first = self._read = 0
        """The place in the Log of the first Change that is filed, and of the first that is not."""

    def read(self, log: Log) -> None:
        """File what has been committed since, and forget what has been compacted."""
        if log.first > self._first:
            self._forget(log)
        for place in range(self._read, log.end):
            change = log[place]
            before, after = self._value(change.old), self._value(change.new)
            self._by_value.setdefault(before, []).append(change)
            if after != before:
                self._by_value.setdefault(after, []).append(change)
        self._read = log.end

    def after(self, value: object, revision: int) -> Iterator[Change]:
        """Those with that value that are newer than a revision, oldest first."""
        filed = self._by_value.get(value, [])
        start = bisect_right(filed, revision, key=revision_of)
        return map(filed.__getitem__, range(start, len(filed)))

    def _forget(self, log: Log) -> None:
        self._first, self._read = log.first, max(self._read, log.first)
        oldest = log[log.first].revision if log.end > log.first else None
        for value, filed in list(self._by_value.items()):
            keep = len(filed) if oldest is None else bisect_left(filed, oldest, key=revision_of)
            del filed[:keep]
            if not filed:
                del self._by_value[value]

    def _value(self, entry: Entry | None) -> object:
        return None if entry is None else self._value_of(entry.value)


def _check_first(stream: OpenWatch, shown: Change, store: Store) -> Wrong:
    """What a watch begins with must be there at the revision where it was opened."""
    there = store.peek(shown.key, stream.opened_at)
    if there is None or there is not shown.new:
        text = f"{stream.path} began with {_named(shown)}, which was not there at its beginning"
        return _told(stream, text, shown)
    return None


def _check_shown(stream: OpenWatch, delivery: Delivery, change: Change) -> Wrong:
    """What begins to match the selector is ADDED. What ceases to match is DELETED, and shown as it
    last was (API-6)."""

    was, is_now = stream.watch.selector.has(change.old), stream.watch.selector.has(change.new)
    if is_now:
        wanted, entry = (MODIFIED if was else ADDED), change.new
    else:
        wanted, entry = DELETED, change.old
    assert entry is not None
    value = entry.value
    if isinstance(value, Object) and not is_now:
        value = value.with_meta(revision=Revision(change.revision))
    if delivery.type != wanted:
        text = f"{stream.path} was told {delivery.type} of {_named(change)}, which is {wanted}"
        return _told(stream, text, change)
    if delivery.object is not value and delivery.object != value:
        text = f"{stream.path} was shown {change.key} as it was not at rv {change.revision}"
        return _told(stream, text, change)
    return None


def _told(stream: OpenWatch, text: str, *changes: Change | None, reason: str = "") -> Found:
    """What is wrong with a watch, about its actor and these Changes."""
    about = [change for change in changes if change is not None]
    since = about[0].revision if about else None
    return Found.of(text, *about, actors=stream.life.role.name, reason=reason, since=since)


def _named(change: Change) -> str:
    return f"{change.key} at rv {change.revision}"
