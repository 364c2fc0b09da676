"""FIFO queue: one line, whatever the priority; a pod that fails goes to its end after a backoff."""

from __future__ import annotations

import pytest

from actors.framework.cluster_events import NODE_ADDED
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.fifo import FifoQueue
from actors.scheduler.queue.queued import Attempt, QueuedPod
from actors.scheduler.switches import switches_of
from testbed.objects import Pod
from testbed.objects.pod import SchedulingGate


def queue_of(**given: str) -> FifoQueue:
    """A FifoQueue with these switches."""
    return FifoQueue(Nominator(lambda key: None), switches_of("alpha", given))


def taken(queue: FifoQueue, now_ms: int) -> QueuedPod:
    """Pop a pod; there is one."""
    queued = queue.pop(now_ms)
    assert queued is not None
    return queued


def failed(queue: FifoQueue, queued: QueuedPod, now_ms: int) -> str:
    """Its attempt fails, and the pod has not changed."""
    return queue.failed(Attempt(queued, queued.pod, queue.cycle, now_ms))


@pytest.mark.spec("SCH-29")
def test_the_head_is_taken_however_unimportant_it_is() -> None:
    """Pods stand in order of arrival."""
    queue = queue_of()
    for name, priority in (("b", 0), ("a", 1000), ("c", 5)):
        queue.add(Pod.of(name, priority=priority), 0)
    assert [taken(queue, 0).pod.meta.name for _ in range(3)] == ["b", "a", "c"]


@pytest.mark.spec("SCH-29", "SCH-30")
def test_one_that_failed_goes_to_the_end_after_its_pause() -> None:
    """No event shortens its backoff, which doubles up to a minute, or is fixed. Pods whose
    backoff ends together stand in order of their first arrival, in whatever order they failed."""
    queue = queue_of()
    queue.add(Pod.of("a"), 0)
    now_ms = 0
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        assert failed(queue, taken(queue, now_ms), now_ms) == "backoff"
        queue.move(NODE_ADDED, now_ms)
        now_ms += seconds * 1000
        assert (queue.backoff_due_ms, queue.stay_due_ms) == (now_ms, None)
        queue.flush_backoff(now_ms - 1)
        queue.flush_unschedulable(now_ms - 1)
        assert not queue.is_ready
        queue.flush_backoff(now_ms)
        assert queue.is_ready
    queue = queue_of(fifo_retry="1000")
    for name in "ba":
        queue.add(Pod.of(name), 0)
    for now_ms in (0, 1000, 2000):
        queue.flush_backoff(now_ms)
        queued = [taken(queue, now_ms), taken(queue, now_ms)]
        assert [each.pod.meta.name for each in queued] == ["b", "a"]
        for each in reversed(queued):
            failed(queue, each, now_ms)
    queue.add(Pod.of("c"), 2500)
    queue.flush_backoff(3000)
    assert queue.places["active"] == tuple(f"pods/default/{name}" for name in "cba")


def test_an_update_leaves_a_pod_where_it_stands() -> None:
    """In the line, and in backoff. A pod that is not there is added, and one that has lost its
    gates joins the line."""
    queue = queue_of()
    queue.add(Pod.of("a"), 0)
    failed(queue, taken(queue, 0), 0)
    for name in "bc":
        queue.add(Pod.of(name), 0)
    queue.add(Pod.of("d", scheduling_gates=(SchedulingGate("wait"),)), 0)
    assert queue.places["unschedulable"] == ("pods/default/d",)
    for name in "abcd":
        queue.update(Pod.of(name), Pod.of(name, priority=9), 1)
    queue.update(Pod.of("e"), Pod.of("e", priority=9), 1)
    queue.flush_backoff(1000)
    assert queue.places["active"] == tuple(f"pods/default/{name}" for name in "bcdea")
    seen = [taken(queue, 1000) for _ in range(5)]
    assert [(each.pod.priority, each.attempts) for each in seen] == [(9, 1)] * 4 + [(9, 2)]


def test_one_that_waits_already_does_not_wait_twice() -> None:
    """Such as a pod that has changed during its attempt."""
    queue = queue_of()
    queue.add(Pod.of("a"), 0)
    queued = taken(queue, 0)
    queue.update(Pod.of("a"), Pod.of("a", priority=1), 0)
    assert queue.failed(Attempt(queued, Pod.of("a"), queue.cycle, 0)) == ""
    assert {place: len(keys) for place, keys in queue.places.items()} == {
        "active": 1, "backoff": 0, "unschedulable": 0,
    }  # fmt: skip
    queue.delete(Pod.of("a"))
    assert not queue.is_ready
