"""Failure: requeues a pod that was not scheduled, in the order of the real scheduler (SCH-67).

1. The filters that refused it are noted, for the events that it waits for. 2. The pod is read again
from its informer: it is requeued as it is now, unless it is gone or has a node. 3. The nominator is
updated. 4. An Event says why. 5. Its status is patched with the difference to the pod as it was
when it was taken from the queue.
"""

from __future__ import annotations

import attrs

from actors.scheduler.queue.queued import Attempt, QueuedPod
from actors.scheduler.writes.deed import Deed
from actors.scheduler.writes.difference import difference
from testbed import ApiError
from testbed.objects import Condition, Pod, condition
from testbed.objects.event import WARNING
from testbed.objects.meta import evolved

UNSCHEDULABLE, ERROR = "Unschedulable", "SchedulerError"


@attrs.frozen
class Failure:
    """Why a pod was not scheduled, and what becomes of its nomination."""

    message: str
    reason: str = UNSCHEDULABLE
    nominate: str | None = ""
    """The node to nominate it to; empty: clear the nomination; None: leave it as it is."""
    refused_by: frozenset[str] = frozenset()
    """The filters that refused it on some node."""


async def fail(deed: Deed, queued: QueuedPod, failure: Failure) -> None:
    """Requeue a pod that was not scheduled, and say why."""
    pod, books = queued.pod, deed.books
    _requeue(deed, queued, failure)
    books.recorder.note(pod, "FailedScheduling", failure.message, WARNING, action="Scheduling")
    try:
        await _patch_status(deed, pod, failure)
    except ApiError as error:
        books.client.record("status not patched", pod=pod.key, error=str(error))


def _requeue(deed: Deed, queued: QueuedPod, failure: Failure) -> None:
    """Requeue the pod and set its nomination, all in one turn."""
    books, pod = deed.books, queued.pod
    queue = books.beliefs.queue
    # `queued` holds the pod as it was popped. Since then it may have changed, been deleted, or been
    # bound: by another scheduler, or by this one if the reply to its bind was lost. To requeue that
    # old object would undo an update, or schedule a pod that is gone or has a node.
    known = books.informers.pod(pod.key)
    place, now_ms = "", books.client.elapsed()
    if known is not None and not known.is_bound:
        place = queue.failed(Attempt(queued, known, queue.cycle, now_ms, failure.refused_by))
        pod = known
    queue.done(queued)
    counts_now = books.switches.nomination_counts == "at_once"
    books.beliefs.nominator.nominate(pod, failure.nominate if counts_now else None)
    books.client.record("waits", pod=pod.key, attempt=queued.attempts, where=place or "nowhere")
    books.queue_changed(now_ms)


async def _patch_status(deed: Deed, pod: Pod, failure: Failure) -> None:
    """Patch the condition PodScheduled and the nomination, if either has changed."""
    books = deed.books
    scheduled = Condition("PodScheduled", "False", failure.reason, failure.message)
    conditions = condition.having(pod.status.conditions, scheduled, books.client.now())
    status = pod.status
    if conditions is not status.conditions:
        status = evolved(status, conditions=conditions)
    node, is_apart = failure.nominate, books.switches.nnn_storage == "annotation"
    is_renominated = node is not None and node != books.beliefs.nominator.said(pod)
    if is_renominated and node is not None and not is_apart:
        status = evolved(status, nominated_node_name=node)
    await deed.patch_status(pod, difference(pod, status))
    if is_renominated and node is not None and is_apart:
        await deed.nominate(pod, node)
