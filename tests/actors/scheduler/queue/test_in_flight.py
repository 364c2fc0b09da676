"""Events in flight: which a pod has seen that was tried while they came, and which it loses."""

from __future__ import annotations

import pytest

from actors.framework.cluster_events import NODE_LABELS, POD_DELETED
from actors.scheduler.queue.in_flight import EventList

WAKES = {"fit": frozenset({POD_DELETED})}
BOTH = pytest.mark.parametrize("forgets", [False, True], ids=["mended", "1.28.0"])


def events(*, forgets: bool) -> EventList:
    """A list for pods that a filter may refuse which waits for a deleted pod."""
    return EventList(WAKES, forgets=forgets)


@BOTH
def test_a_pod_has_seen_what_came_since_it_was_popped(forgets: bool) -> None:
    """And only what its filters wait for: else it waits for news, which saves an attempt."""
    here = events(forgets=forgets)
    early = here.begin()
    here.note(POD_DELETED)
    late = here.begin()
    here.note(NODE_LABELS)
    assert here.can_help(early, ["fit"])
    assert not here.can_help(late, ["fit"])
    here.note(POD_DELETED)
    assert here.can_help(late, ["fit"])


@BOTH
def test_a_pod_that_has_failed_by_an_error_is_tried_again(forgets: bool) -> None:
    """No event will tell that the error is over."""
    here = events(forgets=forgets)
    assert here.can_help(here.begin(), [])


@BOTH
def test_what_nobody_in_flight_can_miss_is_not_kept(forgets: bool) -> None:
    """Neither before a pod is popped nor when the last one is done that was in flight."""
    here = events(forgets=forgets)
    here.note(POD_DELETED)
    flight = here.begin()
    assert not here.can_help(flight, ["fit"])
    here.note(POD_DELETED)
    here.end(flight)
    assert here.digest() == []
    assert not here.can_help(here.begin(), ["fit"])


@pytest.mark.spec("SCH-16")
@BOTH
def test_a_pod_loses_its_place_with_the_event_that_marks_it(forgets: bool) -> None:
    """1. Another pod is in flight, and an event comes. 2. The pod is popped, and another event
    comes. 3. The other pod is done, so the first event leaves. 4. The second one is still there."""
    here = events(forgets=forgets)
    other = here.begin()
    here.note(POD_DELETED)
    pod = here.begin()
    here.note(POD_DELETED)
    assert here.can_help(pod, ["fit"])
    here.end(other)
    assert here.can_help(pod, ["fit"]) is not forgets
    here.end(pod)
    assert here.digest() == []
