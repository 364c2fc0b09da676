"""Caches show what there was at one revision (INV-6), and at quiescence what there is (INV-40)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from testbed.client.cache import Cache
from testbed.invariant import DELIVERY, Evidence, Invariant
from testbed.objects.meta import prefix_of
from testbed.store.change import Change
from testbed.store.selector import differ_in
from testbed.store.store import Store
from testbed.turns.found import UNEQUAL, Found, Wrong, told
from testbed.turns.option import WAKE
from testbed.turns.trace import Step


class CachesEqualTheStore(Invariant):
    """When nothing can move any more, each Cache holds what the Store holds. One that waits to ask
    again may move yet: its timer is still to come."""

    name = "caches_equal_the_store"
    reads = frozenset()

    def end(self, evidence: Evidence) -> Wrong:
        for role in evidence.actors:
            for cache in role.life.caches if role.life and role.is_up else ():
                if any(option.kind == WAKE for option in cache.reader._seat.offered):
                    continue
                actual = _there(cache, evidence.store, None)
                if wrong := _difference(cache.known, actual, cache.reads):
                    return _told(wrong, cache.kind.plural, role.name)
        return None


class CachesShowOneRevision(Invariant):
    """A Cache holds, as a whole, what there was at one point of the history of its kind.

    For each Cache it keeps a copy of its own, which it folds from the history, as far as the Cache
    says that it has read. So a delivery costs only what has changed since the one before. A Cache
    that has listed is compared as a whole.
    """

    name = "caches_show_one_revision"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY})

    def __init__(self) -> None:
        self._folds: dict[Cache[Any], _Fold] = {}

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for stream, _ in evidence.wire.streams.delivered:
            life = stream.life
            for cache in life.caches if life.is_alive else ():
                is_read = cache.kind.plural == stream.plural
                if is_read and (wrong := self._wrong_in(cache, evidence)):
                    return _told(wrong, stream.plural, life.role.name)
        return None

    def _wrong_in(self, cache: Cache[Any], evidence: Evidence) -> Found | None:
        store, upto = evidence.store, str(cache.upto)
        fold = self._folds.get(cache)
        if not upto or int(upto) < store.compacted:
            return None
        if fold is None or fold.revision > int(upto) or fold.revision < store.compacted:
            fold = self._folds[cache] = _Fold(int(upto), _there(cache, store, int(upto)))
            touched = {*fold.known, *cache.known}
        else:
            touched = fold.go_on(cache, store, int(upto))
        mine = {key: fold.known[key] for key in touched if key in fold.known}
        its = {key: cache.known[key] for key in touched if key in cache.known}
        wrong = _difference(its, mine, cache.reads) or _miscounted(cache, fold)
        if wrong and _is_within_txn(cache, fold, store):
            return None
        return told(wrong, after=f" at rv {upto}", since=int(upto)) if wrong else None


def _told(wrong: Found, plural: str, actor: str) -> Found:
    """What is wrong with the Cache of an actor, as the claim says it."""
    before = f"the cache of {plural} in {actor} "
    return told(wrong, before=before, actors=actor, reason=UNEQUAL)


class _Fold:
    """The history of a kind, folded up to a revision."""

    def __init__(self, revision: int, known: dict[str, object]) -> None:
        self.revision = revision
        self.known = known

    def go_on(self, cache: Cache[Any], store: Store, upto: int) -> set[str]:
        """Fold on up to this revision. Returns the keys that have changed."""
        touched = set()
        for change in store.log(cache.kind.plural).after(self.revision):
            if change.revision > upto:
                break
            touched.add(change.key)
            _fold_in(self.known, cache, change)
        self.revision = upto
        return touched


def _fold_in(known: dict[str, object], cache: Cache[Any], change: Change) -> None:
    if change.new is not None and cache.selector.has(change.new):
        known[change.key] = change.new.value
    else:
        known.pop(change.key, None)


def _is_within_txn(cache: Cache[Any], fold: _Fold, store: Store) -> bool:
    """Whether the Cache holds a part of the transaction that comes next."""
    # The Changes of a transaction share a revision and are delivered one by one. In between a
    # Cache holds the first few of them and says, rightly, that it has read up to the revision
    # before. So each beginning of that transaction is tried, and one must fit.
    later = store.log(cache.kind.plural).after(fold.revision)
    first = next(later, None)
    known = dict(fold.known)
    while first is not None:
        _fold_in(known, cache, first)
        if not _difference(cache.known, known, cache.reads):
            return True
        following = next(later, None)
        is_same = following is not None and following.revision == first.revision
        first = following if is_same else None
    return False


def _miscounted(cache: Cache[Any], fold: _Fold) -> Found | None:
    """What is wrong with a Cache that holds more or fewer objects than there were."""
    if len(cache.known) == len(fold.known):
        return None
    return _difference(cache.known, fold.known, cache.reads)


def _there(cache: Cache[Any], store: Store, at: int | None) -> dict[str, object]:
    """What a Cache should hold that has read up to a revision; None: up to now."""
    entries = store.snapshot(prefix_of(cache.kind), at)
    return {e.key: e.value for e in entries if cache.selector.has(e)}


def _difference(
    known: Mapping[str, Any], actual: Mapping[str, Any], reads: tuple[str, ...] | None
) -> Found | None:
    """What the Cache has wrong: of whole objects, or of the fields it declared that it reads."""
    for key in sorted({*known, *actual}):
        if key not in known:
            return Found.of(f"lacks {key}", key)
        if key not in actual:
            return Found.of(f"still holds {key}, which is gone", key)
        one, other = known[key], actual[key]
        if one != other if reads is None else differ_in(reads, one, other):
            return Found.of(f"holds {key} as it was, not as it is", key, fields=reads or ())
    return None
