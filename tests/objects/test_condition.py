"""Conditions: what is so of an object, and since when."""

from __future__ import annotations

import pytest

from testbed.objects import Condition
from testbed.objects.condition import FALSE, TRUE, UNKNOWN, having
from testbed.objects.form import from_tree, to_tree

READY = Condition("Ready", TRUE, since_ms=1000)
OTHER = Condition("Other", FALSE, "Why", "because", since_ms=2000)


def test_it_is_so_only_if_it_is_true() -> None:
    """Unknown is not true, nor is a condition that is missing."""
    assert READY.is_true
    assert not any(Condition("Ready", status).is_true for status in (FALSE, UNKNOWN, "", "true"))


@pytest.mark.spec("GEN-4")
def test_since_when_it_is_so_changes_with_its_status_alone() -> None:
    """A new one begins now, in whole seconds; another reason is no other status."""
    assert having((OTHER,), Condition("Ready", TRUE), 1500) == (OTHER, READY)
    because = Condition("Ready", TRUE, "Again")
    assert having((READY, OTHER), because, 9999) == (
        Condition("Ready", TRUE, "Again", since_ms=1000),
        OTHER,
    )
    assert having((READY, OTHER), Condition("Ready", FALSE), 9999) == (
        Condition("Ready", FALSE, since_ms=9000),
        OTHER,
    )


def test_it_is_written_with_its_times() -> None:
    """Type and status always, the rest if it is said."""
    assert to_tree(Condition()) == {"type": "", "status": ""}
    tree = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "it is",
        "lastTransitionTime": "2025-01-01T00:00:01Z",
        "lastHeartbeatTime": "2025-01-01T00:00:02Z",
    }
    assert to_tree(from_tree(Condition, tree)) == tree
    assert from_tree(Condition, tree).heartbeat_ms == 2000
