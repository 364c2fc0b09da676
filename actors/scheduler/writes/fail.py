"""Failing: what becomes of a pod that was tried in vain, in the order of the real one (SCH-67).

1. Which filters refused it is noted, for the events that it now waits for. 2. Its informer is asked
for it: one that is gone, or has a node by now, is not tried again; any other waits again, as it is
now. 3. The nominator is told. 4. An Event says why. 5. Its status is patched: the difference to the
pod as it was when it was taken from the queue.
"""

from __future__ import annotations

import attrs

from actors.scheduler.memory.books import Books
from actors.scheduler.queue.queued import Attempt, QueuedPod
from actors.scheduler.writes.difference import difference
from actors.scheduler.writes.patches import nominate, patch_status
from testbed import ApiError
from testbed.objects import Condition, Pod, condition
from testbed.objects.event import WARNING

UNSCHEDULABLE, ERROR = "Unschedulable", "SchedulerError"


@attrs.frozen
class Failure:
    """Why a pod was not scheduled, and what that means for its nomination."""

    message: str
    reason: str = UNSCHEDULABLE
    nominate: str | None = ""
    """The node it is nominated to from now on; empty: none; None: as it was."""
    refused_by: frozenset[str] = frozenset()
    """The filters that refused it anywhere."""


async def fail(books: Books, queued: QueuedPod, failure: Failure, because: int) -> None:
    """See to a pod that was tried in vain."""
    pod = queued.pod
    _wait_again(books, queued, failure)
    books.recorder.note(pod, "FailedScheduling", failure.message, WARNING, action="Scheduling")
    try:
        await _say(books, pod, failure, because)
    except ApiError as error:
        books.client.record("status not said", pod=pod.key, error=str(error))


def _wait_again(books: Books, queued: QueuedPod, failure: Failure) -> None:
    """Back into the queue, and nominated as it now is, all in one turn."""
    pod = queued.pod
    known = books.known(pod.key)
    place = ""
    if known is not None and not known.is_bound:
        now_ms = books.client.elapsed()
        cycle = books.queue.cycle
        place = books.queue.failed(Attempt(queued, known, cycle, now_ms, failure.refused_by))
        pod = known
    books.nominator.nominate(pod, failure.nominate)
    books.client.record("waits", pod=pod.key, attempt=queued.attempts, where=place or "nowhere")
    books.settle()


async def _say(books: Books, pod: Pod, failure: Failure, because: int) -> None:
    """Patch its condition and its nomination, if either has changed."""
    said = Condition("PodScheduled", "False", failure.reason, failure.message)
    conditions = condition.having(pod.status.conditions, said, books.client.now())
    status = attrs.evolve(pod.status, conditions=conditions)
    node, is_apart = failure.nominate, books.switches.nnn_storage == "annotation"
    is_renominated = node is not None and node != books.nominator.said(pod)
    if is_renominated and node is not None and not is_apart:
        status = attrs.evolve(status, nominated_node_name=node)
    await patch_status(books, pod, difference(pod, status), because)
    if is_renominated and node is not None and is_apart:
        await nominate(books, pod, node, because)
