"""What actors know is what was at one revision (INV-6), and at quiescence what is (INV-40)."""

from __future__ import annotations

from typing import Any, ClassVar

from testbed.client.cache import Cache
from testbed.invariant import DELIVERY, Evidence, Invariant
from testbed.objects.meta import prefix_of
from testbed.store.change import Change
from testbed.store.selector import differ_in
from testbed.store.store import Store
from testbed.turns.trace import Step


class CachesEqualTheStore(Invariant):
    """When nothing can move any more, what each actor knows is what is."""

    name = "caches_equal_the_store"
    reads = frozenset()

    def end(self, evidence: Evidence) -> str | None:
        for role in evidence.actors:
            for cache in role.life.caches if role.life and role.is_up else ():
                actual = _there(cache, evidence.store, None)
                if said := _difference(cache.known, actual, cache.reads):
                    return f"the cache of {cache.kind.plural} in {role.name} {said}"
        return None


class CachesShowOneRevision(Invariant):
    """What an actor knows of a kind is, whole, what was there at one point of its history.

    Beside each Cache it keeps one of its own, and takes it as far along the history as the Cache
    says that it has read: so each delivery costs what has changed since the one before. When the
    Cache has listed, it is compared whole.
    """

    name = "caches_show_one_revision"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY})

    def __init__(self) -> None:
        self._folds: dict[Cache[Any], _Fold] = {}

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for stream, _ in evidence.wire.streams.delivered:
            life = stream.life
            for cache in life.caches if life.is_alive else ():
                if cache.kind.plural == stream.plural and (said := self._said_of(cache, evidence)):
                    return f"the cache of {stream.plural} in {life.role.name} {said}"
        return None

    def _said_of(self, cache: Cache[Any], evidence: Evidence) -> str:
        store, upto = evidence.store, str(cache.upto)
        fold = self._folds.get(cache)
        if not upto or int(upto) < store.compacted:
            return ""
        if fold is None or fold.revision > int(upto) or fold.revision < store.compacted:
            fold = self._folds[cache] = _Fold(int(upto), _there(cache, store, int(upto)))
            touched = {*fold.known, *cache.known}
        else:
            touched = fold.go_on(cache, store, int(upto))
        mine = {key: fold.known[key] for key in touched if key in fold.known}
        its = {key: cache.known[key] for key in touched if key in cache.known}
        said = _difference(its, mine, cache.reads) or _miscounted(cache, fold)
        if said and _is_within_txn(cache, fold, store):
            return ""
        return f"{said} at rv {upto}" if said else ""


class _Fold:
    """The history of a kind, folded up to a revision."""

    def __init__(self, revision: int, known: dict[str, object]) -> None:
        self.revision = revision
        self.known = known

    def go_on(self, cache: Cache[Any], store: Store, upto: int) -> set[str]:
        """Fold on up to that revision; the keys that this has touched."""
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
    """Whether it has been told of a part of the transaction that comes next."""
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


def _miscounted(cache: Cache[Any], fold: _Fold) -> str:
    """What is wrong with a Cache that holds more or less than was there."""
    if len(cache.known) == len(fold.known):
        return ""
    return _difference(cache.known, fold.known, cache.reads)


def _there(cache: Cache[Any], store: Store, at: int | None) -> dict[str, object]:
    """What it should hold if it has read up to a revision, or up to now."""
    entries = store.snapshot(prefix_of(cache.kind), at)
    return {e.key: e.value for e in entries if cache.selector.has(e)}


def _difference(
    known: dict[str, Any], actual: dict[str, Any], reads: tuple[str, ...] | None
) -> str:
    """What is known wrongly, of all there is or of the fields that were declared."""
    for key in sorted({*known, *actual}):
        if key not in known:
            return f"lacks {key}"
        if key not in actual:
            return f"still holds {key}, which is gone"
        one, other = known[key], actual[key]
        if one != other if reads is None else differ_in(reads, one, other):
            return f"holds {key} as it was, not as it is"
    return ""
