"""Delete: at once or with grace, and in two commits where Kubernetes makes two."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver.admission import steps as admission
from actors.apiserver.call import Call
from actors.apiserver.kind_rules import rules_of
from testbed.objects import UNSET, Pod, Revision
from testbed.objects.calendar import whole_second
from testbed.objects.meta import Numbered, evolved, text_of
from testbed.store.endpoint import BETWEEN, Handler
from testbed.store.store_endpoint import is_at

FINALIZERS = {"Orphan": "orphan", "Foreground": "foregroundDeletion"}
"""By propagation policy, the finalizer that it puts on the object."""


@attrs.frozen
class Wish:
    """What a caller asks of a delete: how long the grace is, and which object it means."""

    grace_s: int | None = None
    """None: what the spec of the object says."""
    uid: str = ""
    revision: Revision = UNSET
    propagation: str = ""

    @classmethod
    def of(cls, call: Call) -> Wish:
        """What the Operation of a delete says."""
        operation, options = call.operation, call.options
        return cls(
            options.get("grace_s"), operation.uid, operation.revision,
            options.get("propagation", ""),
        )  # fmt: skip


def delete(call: Call) -> Handler:
    """Delete the object that the request names, if its kind allows that at all."""
    admission.admit_deletion(call)
    return (yield from remove(call, Wish.of(call)))


def remove(call: Call, wish: Wish) -> Handler:
    """1. Mark the object: its deletion timestamp, its grace and its finalizers. 2. Remove it by a
    second commit, unless it has grace or finalizers left (API-26)."""
    old = call.current()
    check(call, wish, old)
    new = _marked(call, wish, old)
    if new is not old:
        new = call.put(new)
    if new.meta.finalizers or (new.meta.is_terminating and new.meta.grace_s):
        return new
    if new is old:
        call.remove(old)
        return old
    # The two commits are two transactions of etcd, as in Kubernetes: the server may crash between
    # them, and leave a pod marked that no kubelet will ever delete, or another request may come
    # first. The second commit removes any object that has the name by then, even a new one, unless
    # the caller has named a uid or a revision. Kubernetes checks no more than that.
    yield BETWEEN
    there = call.current_at(call.operation.key)
    if there is not None:
        check(call, attrs.evolve(wish, revision=wish.revision and new.meta.revision), there)
        call.remove(there)
    return new


def check(call: Call, wish: Wish, old: Any) -> None:
    """Raise Conflict if the object is not the one that the caller means (API-23)."""
    meta = old.meta
    if wish.uid and wish.uid != meta.uid:
        raise call.conflict(
            f"the UID in the precondition ({wish.uid}) does not match the UID in record "
            f"({meta.uid}). The object might have been deleted and then recreated"
        )
    if wish.revision and not is_at(call.server.store, wish.revision, meta.revision):
        wanted, there = text_of(wish.revision), text_of(meta.revision)
        raise call.conflict(
            Numbered(
                f"the ResourceVersion in the precondition ({wanted}) does not match the "
                f"ResourceVersion in record ({there}). The object might have been modified"
            )
        )


def _marked(call: Call, wish: Wish, old: Any) -> Any:
    """The object as the first commit writes it; the same one if that would change nothing."""
    meta = old.meta
    if rules_of(old).is_graceful:
        meta = _given_time(call, wish, old)
        if meta is old.meta and meta.is_terminating and meta.grace_s:
            return old
    finalizers = _finalizers(wish, old)
    if finalizers != meta.finalizers:
        meta = evolved(meta, finalizers=finalizers)
    if finalizers and not (meta.is_terminating and meta.grace_s is not None and meta.grace_s > 0):
        meta = _at_once(meta, call.now_ms)
    return old if meta == old.meta else evolved(old, meta=meta)


def _given_time(call: Call, wish: Wish, pod: Pod) -> Any:
    """The Meta of the pod with its grace: the first delete sets it, later ones only shorten it."""
    meta = pod.meta
    asked = None if wish.grace_s is None else (wish.grace_s if wish.grace_s >= 0 else 1)
    if meta.deleted_ms is None:
        grace_s = _grace_of(pod, asked)
        deleted_ms = whole_second(call.now_ms) + grace_s * 1000
        return evolved(meta, deleted_ms=deleted_ms, grace_s=grace_s)
    if not meta.grace_s or asked is None or asked >= meta.grace_s:
        return meta
    deleted_ms = meta.deleted_ms + (asked - meta.grace_s) * 1000
    return evolved(meta, deleted_ms=deleted_ms, grace_s=asked)


def _grace_of(pod: Pod, asked: int | None) -> int:
    """The grace of a pod in seconds; 0 if it is on no node, or is over (API-24)."""
    if not pod.is_bound or pod.is_over:
        return 0
    grace_s = asked if asked is not None else pod.spec.grace_s or 0
    return grace_s if grace_s >= 0 else 1


def _finalizers(wish: Wish, old: Any) -> tuple[str, ...]:
    """The finalizers of the object, after the propagation policy has added and removed its own."""
    if not wish.propagation:
        return old.meta.finalizers  # type: ignore[no-any-return]
    wanted = FINALIZERS.get(wish.propagation)
    kept = tuple(f for f in old.meta.finalizers if f not in FINALIZERS.values() or f == wanted)
    return kept if wanted is None or wanted in kept else (*kept, wanted)


def _at_once(meta: Any, now_ms: int) -> Any:
    """Meta that says: to be deleted now, as soon as its finalizers are gone (API-30)."""
    now_ms = whole_second(now_ms)
    generation = meta.generation
    if meta.deleted_ms is None and generation:
        generation += 1
    deleted_ms = now_ms if meta.deleted_ms is None else min(meta.deleted_ms, now_ms)
    return evolved(meta, deleted_ms=deleted_ms, grace_s=0, generation=generation)
