"""What is over has stopped, and an object goes last (INV-30)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.kubelet.invariants.on_nodes import node_of, report_of
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Pod
from testbed.store.change import Change
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step


class OverMeansStopped(Invariant):
    """A kubelet publishes a terminal phase only when nothing of that pod is left on its node. Only
    then it deletes the object for good, and only one that somebody else has begun to delete."""

    name = "over_means_stopped"
    breach_reason, breach_fields = FORBIDDEN, ("status.phase",)
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = evidence.served
        node = "" if request is None else node_of(evidence, request.role)
        if request is None or not node:
            return None
        for change in evidence.changes:
            if wrong := _wrong_in(change, request.operation.verb == "delete", node, evidence):
                who, since = request.role.name, change.revision
                return Found.of(f"{who} {wrong}", change, actors=who, since=since)
        return None


def _wrong_in(change: Change, is_deletion: bool, node: str, evidence: Evidence) -> str:
    old: Any = change.before
    new: Any = change.after
    if not isinstance(old, Pod):
        return ""
    if is_deletion and not old.meta.is_terminating:
        return f"deletes {old.key} ({old.meta.uid}), which was not to be deleted"
    if is_deletion:
        what = "deletes"
    elif new is None:
        return ""
    elif new.is_over and not old.is_over:
        what = f"calls {new.status.phase}"
    else:
        return ""
    report = report_of(evidence, node, old.meta.uid)
    if report is None or report.is_torn_down:
        return ""
    left = "its containers run" if report.is_running else "it is not torn down"
    return f"{what} {old.key} ({old.meta.uid}), and {left}"
