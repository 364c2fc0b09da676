"""The Job controller (CTL-8 to CTL-10).

1. Each pod is created with a finalizer, so that no pod is gone before it is counted.
2. A pod that has ended, and is not counted yet, is noted in the status by its uid; then it loses
   its finalizer; then the status counts it, and notes it no more. A crash in between counts nothing
   twice: what is noted and has no finalizer is only to be counted.
3. A pod that is being deleted counts as failed, unless it has succeeded: so does a preempted one.
4. With more failures than `backoffLimit`, or after its deadline, the Job fails: its pods are
   deleted. Else it keeps as many pods active as may run at once and are still needed; after a
   failure the next one waits for a backoff.

Left out: indexed Jobs, failure policies, the time to live, and the selector: a pod is its own by
the controllerRef alone.
"""

from __future__ import annotations

from contextlib import suppress

import attrs

from actors.controllers.frame import pod_state
from actors.controllers.frame.control_loop import ControlLoop, KeyedController, at_key
from actors.controllers.frame.expectations import Expectations
from actors.controllers.frame.owned import Owned
from actors.controllers.frame.pod_control import PodControl, pod_from
from actors.controllers.frame.ranking import to_delete
from actors.controllers.job.backoff import Backoff
from actors.controllers.job.tally import (
    TRACKING,
    JobTally,
    deadline_in_ms,
    ended,
    is_complete,
    is_tracked,
    noted,
    tally,
    wanted_active,
    wrong_with,
)
from actors.shared.owners import controller_of
from testbed import ApiError, Client, NotFound
from testbed.objects import Condition, Job, JobStatus, Pod
from testbed.objects.calendar import whole_second
from testbed.objects.condition import find, having
from testbed.objects.workload import UncountedPods

READS = (*pod_state.READS, "meta.finalizers")
BURST = 500
"""The most pods that one sync creates or deletes."""
COMPLETE, FAILURE = "Complete", "Failed"


class JobLoop(ControlLoop):
    """One life of the Job controller."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        super().__init__(settings, client)
        self.jobs = self.cache(Job, reads=None)
        self.jobs.on(add=self.want, update=self._changed, delete=self._gone)
        self.expected = Expectations(client, self.todo.add)
        self.pod_cache = self.cache(Pod, reads=READS)
        self.pods = Owned(self.pod_cache, self.jobs, self.todo.add, self.expected)
        self.pod_cache.on(
            add=self._seen, update=lambda _, new: self._seen(new), delete=self._unseen
        )
        self.released: dict[str, None] = {}
        """The uids of pods that it has released, and that its Cache still shows with their
        finalizer. They are counted already."""
        self.backoff = Backoff()
        self.control = PodControl(self, self.expected)

    def digest(self, now_ms: int) -> object:
        parts = (
            self.expected.digest(now_ms),
            self.backoff.digest(now_ms),
            frozenset(self.released),
        )
        return super().digest(now_ms), *parts

    # -- what it hears --------------------------------------------------------------------------

    def _seen(self, pod: Pod) -> None:
        """A pod that waits to be counted by a Job that is gone or over is only to be released."""
        if not is_tracked(pod):
            self.released.pop(pod.meta.uid, None)
        elif self._is_orphan(pod):
            self.want(pod)

    def _unseen(self, pod: Pod) -> None:
        self.released.pop(pod.meta.uid, None)

    def _changed(self, old: Job, new: Job) -> None:
        if old.meta.uid != new.meta.uid or (is_over(new) and not is_over(old)):
            self._gone(old)
        self.want(new)

    def _gone(self, job: Job) -> None:
        """The Job is gone or over: its pods only lose their finalizer."""
        self.expected.forget(job.key)
        self.backoff.forget(job.meta.uid)
        for pod in self.pods.of(job):
            self.want(pod)

    def _is_orphan(self, pod: Pod) -> bool:
        """Whether no Job will count it any more."""
        ref = controller_of(pod)
        job = self.pods.owner(pod)
        return ref is not None and ref.kind == Job.kind and (job is None or is_over(job))

    # -- what it does ---------------------------------------------------------------------------

    async def sync(self, key: str) -> None:
        """Count the pods of a Job and see to them, or release a pod that no Job counts."""
        if key.startswith(f"{Pod.plural}/"):
            pod = at_key(self.pod_cache, key)
            if pod is not None and is_tracked(pod) and self._is_orphan(pod):
                await self.release(pod)
            return
        job = at_key(self.jobs, key)
        if job is not None and not is_over(job):
            await self._sync_job(job)

    async def _sync_job(self, job: Job) -> None:
        now_ms = self.client.now()
        notes = noted(job)
        known = self.known({*notes.succeeded, *notes.failed, *self.released})
        now = tally(self.pods.of(job), known)
        item = _started(job, now_ms)
        verdict, active = self._verdict(item, now, now_ms), len(now.active)
        failed: ApiError | None = None
        if verdict is not None and verdict.type == FAILURE:
            await self.control.delete(job, now.active)
            now, active = ended(now, known), 0
        elif verdict is None and self.expected.are_met(job.key) and not job.meta.is_terminating:
            try:
                active += await self._manage(item, now, now_ms)
            except ApiError as error:
                failed = error
        await self._count(job, attrs.evolve(item.status, active=active), now, verdict)
        if failed is not None:
            raise failed
        if verdict is None:
            self._look_again(item, now_ms)

    def known(self, uids: set[str]) -> set[str]:
        """The uids of the pods that have a place in the counts already."""
        return uids

    def _verdict(self, job: Job, now: JobTally, now_ms: int) -> Condition | None:
        """The condition that ends the Job, or None."""
        if reason := wrong_with(job, now, now_ms):
            return Condition(FAILURE, "True", reason)
        return Condition(COMPLETE, "True") if is_complete(job, now) else None

    def _look_again(self, job: Job, now_ms: int) -> None:
        """Sync it once more when its backoff is over, and when its deadline is."""
        left_ms = self.backoff.left_ms(job.meta.uid, now_ms)
        for due_ms in (left_ms, deadline_in_ms(job, now_ms)):
            if due_ms:
                self.todo.add(job.key, due_ms)

    async def _manage(self, job: Job, now: JobTally, now_ms: int) -> int:
        """Create or delete pods; returns how many more of them are active then."""
        gap = wanted_active(job, now) - len(now.active)
        if gap < 0:
            doomed = to_delete(list(now.active), (), min(-gap, BURST), now_ms)
            await self.control.delete(job, doomed)
            return -len(doomed)
        has_failed = bool(now.failed) and not now.succeeded
        if not gap or has_failed or self.backoff.left_ms(job.meta.uid, now_ms):
            return 0
        gap = min(gap, BURST)
        await self.control.create(job, [new_pod(job)] * gap)
        return gap

    # -- the counts -----------------------------------------------------------------------------

    async def _count(
        self, job: Job, status: JobStatus, now: JobTally, verdict: Condition | None
    ) -> None:
        """Note the pods that have ended since; release them, and those noted before; count them."""
        pods = [pod for pod in self.pods.of(job) if is_tracked(pod)]
        held = {pod.meta.uid for pod in pods} - {*self.released}
        status = attrs.evolve(
            _counted(status, held), ready=sum(map(pod_state.is_ready, now.active))
        )
        notes = _noting(status, now)
        status = attrs.evolve(status, uncounted=notes)
        if verdict is not None and notes is None:
            status = self._ended(status, verdict)
        if status != job.status:
            job = await self.client.update(attrs.evolve(job, status=status), subresource="status")
        # Not before it is noted: a sync that is refused sees the same failures again.
        self.backoff.note(job.meta.uid, len(now.succeeded), len(now.failed), self.client.now())
        if notes is None:
            return
        due = {*notes.succeeded, *notes.failed}
        for pod in pods:
            if pod.meta.uid in due and pod.meta.uid in held:
                await self.release(pod)
        status = _counted(status, held - due)
        if verdict is not None:
            status = self._ended(status, verdict)
        await self.client.update(attrs.evolve(job, status=status), subresource="status")

    def _ended(self, status: JobStatus, verdict: Condition) -> JobStatus:
        """The status of a Job that is over, since all is counted."""
        now_ms = self.client.now()
        conditions = having(status.conditions, verdict, now_ms)
        done_ms = whole_second(now_ms) if verdict.type == COMPLETE else status.completion_ms
        return attrs.evolve(status, conditions=conditions, completion_ms=done_ms)

    async def release(self, pod: Pod) -> None:
        """Take the finalizer off a pod, which may be gone."""
        meta = pod.meta
        tree = {"uid": meta.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING]}
        with suppress(NotFound):
            await self.client.patch(pod, {"metadata": tree}, how="strategic")
        shown = at_key(self.pod_cache, pod.key)
        if shown is not None and shown.meta.uid == meta.uid and is_tracked(shown):
            self.released[meta.uid] = None


@attrs.frozen
class JobController(KeyedController):
    """Runs each Job to its end."""

    loop = JobLoop


def is_over(job: Job) -> bool:
    """Whether it is complete or has failed."""
    ends = (find(job.status.conditions, each) for each in (COMPLETE, FAILURE))
    return any(end is not None and end.is_true for end in ends)


def _started(job: Job, now_ms: int) -> Job:
    """The Job with the time at which its controller first saw it."""
    if job.status.start_ms is not None:
        return job
    return attrs.evolve(job, status=attrs.evolve(job.status, start_ms=whole_second(now_ms)))


def _noting(status: JobStatus, now: JobTally) -> UncountedPods | None:
    """What the status notes, and the new ones; None if that is nothing."""
    old = status.uncounted or UncountedPods()
    new = UncountedPods(
        (*old.succeeded, *(pod.meta.uid for pod in now.succeeded)),
        (*old.failed, *(pod.meta.uid for pod in now.failed)),
    )
    return new if new.succeeded or new.failed else None


def _counted(status: JobStatus, held: set[str]) -> JobStatus:
    """The status with the noted pods counted that have lost their finalizer."""
    notes = status.uncounted
    if notes is None:
        return status
    succeeded = tuple(uid for uid in notes.succeeded if uid in held)
    failed = tuple(uid for uid in notes.failed if uid in held)
    return attrs.evolve(
        status,
        succeeded=status.succeeded + len(notes.succeeded) - len(succeeded),
        failed=status.failed + len(notes.failed) - len(failed),
        uncounted=UncountedPods(succeeded, failed) if succeeded or failed else None,
    )


def new_pod(job: Job) -> Pod:
    """A pod of a Job: with its name as a label, and the finalizer. Kubernetes adds its uid, too; a
    uid here is no value that a label may have."""
    pod = pod_from(job, job.spec.template)
    labels = pod.meta.labels.having(**{"job-name": job.meta.name})
    return pod.with_meta(labels=labels, finalizers=(*pod.meta.finalizers, TRACKING))
