"""Tally: how the pods of a Job stand, and what is to be done about it (CTL-8, CTL-9)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from actors.controllers.frame import pod_state
from testbed.objects import Job, Pod
from testbed.objects.pod import SUCCEEDED
from testbed.objects.workload import UncountedPods

TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer that keeps a pod until it is counted."""
BACKOFF_LIMIT_EXCEEDED, DEADLINE_EXCEEDED = "BackoffLimitExceeded", "DeadlineExceeded"


@attrs.frozen
class JobTally:
    """The pods of one Job, sorted by how they count."""

    active: tuple[Pod, ...]
    """Those that are neither over nor terminating."""
    succeeded: tuple[Pod, ...]
    """Those that have succeeded, and that no count has yet."""
    failed: tuple[Pod, ...]
    """Those that have failed or are being deleted, and that no count has yet."""


def is_tracked(pod: Pod) -> bool:
    """Whether it waits to be counted."""
    return TRACKING in pod.meta.finalizers


def tally(pods: Iterable[Pod], counted: Collection[str]) -> JobTally:
    """Sort the pods of a Job. `counted` has the uids of those that the status counts or notes
    already. The Cache may show an older state of them."""
    active: list[Pod] = []
    succeeded: list[Pod] = []
    failed: list[Pod] = []
    for pod in pods:
        if pod_state.is_active(pod):
            active.append(pod)
        elif is_tracked(pod) and pod.meta.uid not in counted:
            (succeeded if pod.status.phase == SUCCEEDED else failed).append(pod)
    return JobTally(tuple(active), tuple(succeeded), tuple(failed))


def ended(now: JobTally, counted: Collection[str]) -> JobTally:
    """The same once the Job has failed: its active pods are deleted, and count as failed, too."""
    new = (pod for pod in now.active if is_tracked(pod) and pod.meta.uid not in counted)
    return JobTally((), now.succeeded, (*now.failed, *new))


def noted(job: Job) -> UncountedPods:
    """The pods that its status notes, and does not count yet."""
    return job.status.uncounted or UncountedPods()


def totals(job: Job, now: JobTally) -> tuple[int, int]:
    """How many pods have succeeded and failed: those counted, those noted, and the new ones."""
    notes, status = noted(job), job.status
    return (
        status.succeeded + len(notes.succeeded) + len(now.succeeded),
        status.failed + len(notes.failed) + len(now.failed),
    )


def wrong_with(job: Job, now: JobTally, now_ms: int) -> str:
    """Why the Job has failed, in one word; empty if it has not."""
    spec, failed = job.spec, totals(job, now)[1]
    limit = 6 if spec.backoff_limit is None else spec.backoff_limit
    if failed > limit:
        return BACKOFF_LIMIT_EXCEEDED
    if spec.template.spec.restart_policy == "OnFailure":
        # Of all containers, where other controllers ask for the one that was restarted most.
        statuses = (each for pod in now.active for each in pod.status.container_statuses)
        restarts = sum(each.restart_count for each in statuses)
        if restarts and restarts >= limit:
            return BACKOFF_LIMIT_EXCEEDED
    left_ms = deadline_in_ms(job, now_ms)
    return DEADLINE_EXCEEDED if left_ms is not None and left_ms <= 0 else ""


def deadline_in_ms(job: Job, now_ms: int) -> int | None:
    """How long until its deadline; None if it has none, or has not started."""
    deadline_s, start_ms = job.spec.active_deadline_s, job.status.start_ms
    if deadline_s is None or start_ms is None:
        return None
    return start_ms + 1000 * deadline_s - now_ms


def is_complete(job: Job, now: JobTally) -> bool:
    """Whether enough pods have succeeded, and none is active any more. A work queue is complete
    once one pod has succeeded and all are over."""
    succeeded, wanted = totals(job, now)[0], job.spec.completions
    return not now.active and succeeded >= (1 if wanted is None else wanted)


def wanted_active(job: Job, now: JobTally) -> int:
    """How many pods are to be active: as many as may run at once, and no more than are needed."""
    spec, succeeded = job.spec, totals(job, now)[0]
    most = 1 if spec.parallelism is None else spec.parallelism
    if spec.suspend:
        return 0
    if spec.completions is None:
        # In a work queue the first success says that there is no work left to begin.
        return min(len(now.active), most) if succeeded else most
    return min(most, max(spec.completions - succeeded, 0))
