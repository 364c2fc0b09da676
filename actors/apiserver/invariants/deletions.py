"""Pods are given their grace, and finalizers hold what they should (INV-4, API-24 to API-30)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.apiserver.invariants.asked import Demand, asked_of_server, demand_of, options_of
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Object, Pod
from testbed.store.change import Change
from testbed.turns.found import FORBIDDEN, MISSING, Found, Wrong
from testbed.turns.trace import Step

DELETES = ("delete", "deletecollection")


class PodsAreGivenTheirTime(Invariant):
    """A bound pod gets the grace that was asked for, unless a delete says a grace of 0, as its
    kubelet does. A pod is marked and then removed, by two commits. No object with a finalizer is
    removed. And when the World is at rest, an object that was deleted with success is gone, unless
    grace or a finalizer holds it.

    One thing is allowed because Kubernetes does it: the second commit of a delete that names
    neither uid nor revision removes any object that has the name by then.
    """

    name = "pods_are_given_their_time"
    breach_reason, breach_fields = FORBIDDEN, ("meta.deleted_ms", "meta.grace_s", "meta.finalizers")
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._let_go: dict[tuple[str, str], Any] = {}
        """By key and uid, the request after which nothing held the object any more."""
        self._marked: dict[Any, str] = {}
        """By request under way, the uid of the object that it has marked."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = asked_of_server(evidence)
        if request is None:
            return None
        for change in evidence.changes:
            if wrong := self._wrong_in(request, change):
                text = f"{change.key} {wrong} by {request.role.name} {request.operation}"
                return Found.of(text, change, actors=request.role.name, since=change.revision)
        if request.is_served:
            self._marked.pop(request, None)
        return None

    def _wrong_in(self, request: Any, change: Change) -> str:
        old: Any = change.before
        new: Any = change.after
        if isinstance(new, Object) and _is_free_to_go(new):
            self._let_go.setdefault((new.key, new.meta.uid), request)
            self._marked[request] = new.meta.uid
        if isinstance(old, Object) and new is None:
            is_meant = self._marked.get(request, old.meta.uid) == old.meta.uid
            if not is_meant and demand_of(request.operation) == Demand():
                return ""
            return _wrong_in_removal(request.operation, old)
        if isinstance(old, Pod) and isinstance(new, Pod) and new.meta.is_terminating:
            return _wrong_in_time(request.operation, old, new)
        return ""

    def end(self, evidence: Evidence) -> Wrong:
        for (key, uid), request in self._let_go.items():
            entry = evidence.store.peek(key)
            item: Any = None if entry is None else entry.value
            # After an error, or a crash of the server half way, the caller may ask again.
            was_told = request.is_served and request.error is None
            if item is not None and item.meta.uid == uid and was_told and _is_free_to_go(item):
                text = f"{key} was let go by {request.role.name} {request.operation}, and stays"
                return Found.of(text, key, actors=request.role.name, reason=MISSING)
        return None


def _is_free_to_go(item: Object) -> bool:
    """Whether an object is terminating and neither grace nor a finalizer holds it."""
    meta = item.meta
    has_time = isinstance(item, Pod) and item.is_bound and meta.grace_s
    return meta.is_terminating and not meta.finalizers and not has_time


def _wrong_in_removal(operation: Any, old: Object) -> str:
    """What is wrong with removing the object as it was, or an empty text."""
    meta = old.meta
    if meta.finalizers and not _lifts(operation):
        return f"was held by {', '.join(meta.finalizers)}, and was removed"
    if isinstance(old, Pod):
        if not meta.is_terminating:
            return "was removed without being marked"
        if meta.grace_s:
            return f"had {meta.grace_s} s of grace, and was removed"
    return ""


def _lifts(operation: Any) -> bool:
    """Whether the request takes the finalizers away itself."""
    if operation.verb == "update":
        return not operation.body.meta.finalizers
    meta = (operation.body or {}).get("metadata") if operation.verb == "patch" else None
    return any(name.rpartition("/")[2] == "finalizers" for name in meta or ())


def _wrong_in_time(operation: Any, old: Pod, new: Pod) -> str:
    """What is wrong with the grace that a commit leaves a pod, or an empty text."""
    if old.meta.grace_s == new.meta.grace_s:
        return ""
    if operation.verb not in DELETES and operation.asked != "create/eviction":
        return f"was given {new.meta.grace_s} s of grace"
    asked = options_of(operation).grace_s
    wanted = (old.spec.grace_s or 0) if asked is None else asked
    if wanted < 0:
        wanted = 1
    if not old.meta.is_terminating and (not old.is_bound or old.is_over):
        wanted = 0
    if new.meta.grace_s != wanted:
        return f"was given {new.meta.grace_s} s of grace, and not {wanted} s,"
    return ""
