"""Watches are gap-free, in order, once each (INV-6, API-41), by a naive scan of history."""

from __future__ import annotations

from typing import ClassVar

from testbed.delivery import Delivery
from testbed.invariant import DELIVERY, Evidence, Invariant
from testbed.selector import touches
from testbed.store import Change, Store
from testbed.stream import Stream
from testbed.trace import Step


class WatchesAreGapFree(Invariant):
    """Each delivery is the next matching Change of the Store's history after the one before."""

    name = "watches_are_gap_free"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY})

    def __init__(self) -> None:
        self._told: dict[Stream, tuple[int, int]] = {}
        """Up to which revision, and which Change of the history, each stream has told."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for stream, delivery in evidence.wire.streams.delivered:
            if said := self._check(stream, delivery, evidence.store):
                return said
        return None

    def _check(self, stream: Stream, delivery: Delivery, store: Store) -> str | None:
        revision, serial = self._told.get(stream, (stream.opened_at, 0))
        if delivery.error is not None:
            self._told.pop(stream, None)
            return None
        told = delivery.change
        if told is not None and not told.serial:
            return _check_first(stream, told, store)
        upto = told.revision if told is not None else int(str(delivery.revision))
        self._told[stream] = (upto, told.serial if told is not None else serial)
        if upto < revision:
            return f"{stream.path} was told of rv {upto} after rv {revision}"
        expected = _next(stream, store, revision, serial)
        if told is None:
            if expected is not None and expected.revision <= upto:
                return f"{stream.path} got a bookmark at rv {upto}, before {_named(expected)}"
            return None
        if expected is None or expected.serial != told.serial:
            wanted = _named(expected) if expected is not None else "nothing"
            return f"{stream.path} was told of {_named(told)}, and {wanted} was next"
        return None


def _check_first(stream: Stream, told: Change, store: Store) -> str | None:
    """What a watch begins with is what there is where it begins."""
    there = store.peek(told.key, stream.opened_at)
    if there is None or there is not told.new:
        return f"{stream.path} began with {_named(told)}, which was not there at its beginning"
    return None


def _next(stream: Stream, store: Store, revision: int, serial: int) -> Change | None:
    selector, fields = stream.watch.selector, stream.watch.view.fields
    for change in store.log(stream.plural).after(revision - 1):
        is_new = change.serial > serial and change.revision > stream.opened_at
        was, is_now = selector.has(change.old), selector.has(change.new)
        if is_new and (was or is_now):
            if was and is_now and fields is not None and not touches(fields, change):
                continue
            return change
    return None


def _named(change: Change) -> str:
    return f"{change.key} at rv {change.revision}"
