"""What no commit may take back in the life of an object (INV-3, API-2), by its history alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from testbed.invariant import COMMIT, Evidence, Invariant
from testbed.objects.meta import Object
from testbed.objects.pod import FAILED, SUCCEEDED, Pod
from testbed.store.change import Change
from testbed.turns.trace import Step


class LivesGoOneWay(Invariant):
    """A pod is bound to one node, and to none once it is terminating. A pod that is over stays so.
    What is terminating stays so: its deadline and its grace only shrink. A uid never changes."""

    name = "lives_go_one_way"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for change in evidence.changes:
            old, new = _object(change.old), _object(change.new)
            if old is not None and new is not None:
                for wrong in (*_taken_back(old, new), *_taken_back_by_pod(old, new)):
                    return f"{change.key} {wrong} at rv {change.revision}"
        return None


class EveryUidIsNew(Invariant):
    """An object that is created has a uid that no object had before."""

    name = "every_uid_is_new"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._upto = 0
        self._bearers: dict[str, str] = {}

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        found = [wrong for change in self._unseen(evidence) if (wrong := self._reused_by(change))]
        return found[0] if found else None

    def _unseen(self, evidence: Evidence) -> Iterator[Change]:
        """The commits since it looked last, those included with which a World begins."""
        upto, self._upto = self._upto, evidence.store.revision
        return evidence.store.log().after(upto)

    def _reused_by(self, change: Change) -> str:
        new = _object(change.new)
        if new is None or change.old is not None:
            return ""
        if not new.meta.uid:
            return f"{change.key} was created without a uid at rv {change.revision}"
        bearer = self._bearers.setdefault(new.meta.uid, f"{change.key} of rv {change.revision}")
        if bearer == f"{change.key} of rv {change.revision}":
            return ""
        return f"{change.key} of rv {change.revision} has the uid {new.meta.uid} of {bearer}"


def _object(entry: Any) -> Object | None:
    return entry.value if entry is not None and isinstance(entry.value, Object) else None


def _taken_back(old: Object, new: Object) -> Iterator[str]:
    """What a commit has changed that no commit may change, of any object."""
    was, now = old.meta, new.meta
    if was.uid != now.uid:
        yield f"was {was.uid}, and is {now.uid}"
    if was.created_ms != now.created_ms:
        yield f"was created at {was.created_ms} ms, and now at {now.created_ms} ms"
    if was.deleted_ms is None:
        return
    if now.deleted_ms is None:
        yield "was to go, and is not any more"
    elif now.deleted_ms > was.deleted_ms:
        yield f"was to go by {was.deleted_ms} ms, and now by {now.deleted_ms} ms"
    if was.grace_s is not None and (now.grace_s is None or now.grace_s > was.grace_s):
        yield f"had {was.grace_s} s of grace, and now {now.grace_s} s"


def _taken_back_by_pod(old: Object, new: Object) -> Iterator[str]:
    """What a commit has changed that no commit may change, of a pod."""
    if not isinstance(old, Pod) or not isinstance(new, Pod):
        return
    was, now = old.spec.node_name, new.spec.node_name
    if was and was != now:
        yield f"was on {was}, and is on {now or 'none'}"
    elif was != now and old.meta.is_terminating:
        yield f"was to go, and was given to {now}"
    if old.is_over and new.status.phase not in (SUCCEEDED, FAILED):
        yield f"was {old.status.phase}, and is {new.status.phase} again"
