"""A Job counts the end of each of its pods once at most (CTL-9, CTL-10)."""

from __future__ import annotations

from typing import Any, ClassVar

from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Job, Pod
from testbed.turns.found import MISSING, TOO_MANY, Found, Wrong
from testbed.turns.trace import Step

TRACKING = "batch.kubernetes.io/job-tracking"
ENDS = ("Complete", "Failed")


class EndsAreCountedOnce(Invariant):
    """A Job never says that more pods have succeeded, or failed, than it ever had. At rest, no pod
    of a Job that is over is held by the finalizer of its tracking."""

    name = "ends_are_counted_once"
    breach_reason = TOO_MANY
    reads = frozenset({"log:pods", "log:jobs"})
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._pods: dict[str, set[str]] = {}
        """By the uid of a Job, the uids of all pods that it ever had."""
        self._succeeded: dict[str, set[str]] = {}
        """The same of those that were seen to succeed."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for change in evidence.changes:
            new: Any = change.after
            if isinstance(new, Pod):
                self._note(new)
            elif isinstance(new, Job) and (wrong := self._wrong(new)):
                return wrong
        return None

    def end(self, evidence: Evidence) -> Wrong:
        jobs: list[Any] = [entry.value for entry in evidence.store.snapshot(f"{Job.plural}/")]
        over = {
            job.meta.uid
            for job in jobs
            if any(each.type in ENDS and each.is_true for each in job.status.conditions)
        }
        for entry in evidence.store.snapshot(f"{Pod.plural}/"):
            pod: Any = entry.value
            owner = next((each.uid for each in pod.meta.owners if each.controller), "")
            if owner in over and TRACKING in pod.meta.finalizers:
                text = f"{pod.key} waits to be counted by a Job that is over"
                jobs = [job for job in jobs if job.meta.uid == owner]
                return Found.of(text, pod, *jobs, fields="meta.finalizers", reason=MISSING)
        return None

    def _note(self, pod: Pod) -> None:
        for owner in pod.meta.owners:
            if owner.kind == Job.kind:
                self._pods.setdefault(owner.uid, set()).add(pod.meta.uid)
                if pod.status.phase == "Succeeded":
                    self._succeeded.setdefault(owner.uid, set()).add(pod.meta.uid)

    def _wrong(self, job: Job) -> Found | None:
        uid, status = job.meta.uid, job.status
        ever, succeeded = len(self._pods.get(uid, ())), len(self._succeeded.get(uid, ()))
        if status.succeeded > succeeded:
            text = f"{job.key} counts {status.succeeded} successes, and there were {succeeded}"
            return Found.of(text, job, fields="status.succeeded")
        if status.failed > ever - status.succeeded:
            text = f"{job.key} counts {status.failed} failures, and it had {ever} pods"
            return Found.of(text, job, fields="status.failed")
        return None
