"""What no commit may take back in the life of an object (INV-3, API-2), by its history alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from testbed.invariant import COMMIT, Evidence, Invariant
from testbed.objects.meta import Object
from testbed.objects.pod import FAILED, SUCCEEDED, Pod
from testbed.store.change import Change
from testbed.turns.found import MISSING, TAKEN_BACK, TOO_MANY, Found, Wrong
from testbed.turns.trace import Step


class LivesGoOneWay(Invariant):
    """A pod is bound to one node, and to none once it is terminating. A pod that is over stays so.
    What is terminating stays so: its deadline and its grace only shrink. A uid never changes."""

    name = "lives_go_one_way"
    breach_reason = TAKEN_BACK
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for change in evidence.changes:
            old, new = _object(change.old), _object(change.new)
            if old is not None and new is not None:
                for field, wrong in (*_taken_back(old, new), *_taken_back_by_pod(old, new)):
                    text = f"{change.key} {wrong} at rv {change.revision}"
                    return Found.of(text, change, fields=field, since=change.revision)
        return None


class EveryUidIsNew(Invariant):
    """An object that is created has a uid that no object had before."""

    name = "every_uid_is_new"
    breach_reason, breach_fields = TOO_MANY, ("meta.uid",)
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._upto = 0
        self._bearers: dict[str, Change] = {}

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        found = [wrong for change in self._unseen(evidence) if (wrong := self._reused_by(change))]
        return found[0] if found else None

    def _unseen(self, evidence: Evidence) -> Iterator[Change]:
        """The commits since it looked last, those included with which a World begins."""
        upto, self._upto = self._upto, evidence.store.revision
        return evidence.store.log().after(upto)

    def _reused_by(self, change: Change) -> Found | None:
        new, at = _object(change.new), change.revision
        if new is None or change.old is not None:
            return None
        if not new.meta.uid:
            text = f"{change.key} was created without a uid at rv {at}"
            return Found.of(text, change, reason=MISSING, since=at)
        first = self._bearers.setdefault(new.meta.uid, change)
        if (first.key, first.revision) == (change.key, at):
            return None
        bearer = f"{first.key} of rv {first.revision}"
        text = f"{change.key} of rv {at} has the uid {new.meta.uid} of {bearer}"
        return Found.of(text, change, first, since=at)


def _object(entry: Any) -> Object | None:
    return entry.value if entry is not None and isinstance(entry.value, Object) else None


def _taken_back(old: Object, new: Object) -> Iterator[tuple[str, str]]:
    """The field that a commit has changed and no commit may change, of any object, and how."""
    was, now = old.meta, new.meta
    if was.uid != now.uid:
        yield "meta.uid", f"was {was.uid}, and is {now.uid}"
    if was.created_ms != now.created_ms:
        yield (
            "meta.created_ms",
            f"was created at {was.created_ms} ms, and now at {now.created_ms} ms",
        )
    if was.deleted_ms is None:
        return
    if now.deleted_ms is None:
        yield "meta.deleted_ms", "was to go, and is not any more"
    elif now.deleted_ms > was.deleted_ms:
        yield "meta.deleted_ms", f"was to go by {was.deleted_ms} ms, and now by {now.deleted_ms} ms"
    if was.grace_s is not None and (now.grace_s is None or now.grace_s > was.grace_s):
        yield "meta.grace_s", f"had {was.grace_s} s of grace, and now {now.grace_s} s"


def _taken_back_by_pod(old: Object, new: Object) -> Iterator[tuple[str, str]]:
    """The field that a commit has changed and no commit may change, of a pod, and how."""
    if not isinstance(old, Pod) or not isinstance(new, Pod):
        return
    was, now = old.spec.node_name, new.spec.node_name
    if was and was != now:
        yield "spec.node_name", f"was on {was}, and is on {now or 'none'}"
    elif was != now and old.meta.is_terminating:
        yield "spec.node_name", f"was to go, and was given to {now}"
    if old.is_over and new.status.phase not in (SUCCEEDED, FAILED):
        yield "status.phase", f"was {old.status.phase}, and is {new.status.phase} again"
