"""Switches of the controllers: what differs between versions, or can be taken away from them."""

from __future__ import annotations

import attrs

from testbed.switches import Component, on_off, one_of, whole


@attrs.frozen
class ControllerSwitches:
    """All of them; the first value of each is that of 1.26 (GEN-2)."""

    expectations: bool = on_off(True)
    """Whether a controller waits until it has heard of its own creates and deletes (CTL-2)."""
    replace_failed: str = one_of("at_once", "backoff")
    """When a ReplicaSet replaces pods that have failed: at once, or, as was proposed (kubernetes
    PR#130411), 10 s after the last one was created, doubling up to five minutes."""
    bug_conflict_writes_old_status: bool = on_off(False)
    """A fault before 1.17: if the disruption controller meets a conflict, it reads the budget again
    and writes its old count over the new status (kubernetes#82149)."""
    node_monitor_grace_ms: int = whole(40_000)
    """How long a node may be silent before its conditions become Unknown (CTL-32)."""
    events: bool = on_off(True)
    """Whether controllers write Events. No program decides by them; without them, Runs are
    shorter."""


CONTROLLERS = Component(
    "controllers",
    ControllerSwitches,
    {"seed": {}, "k8s-1.26": {}, "k8s-modern": {"node_monitor_grace_ms": "50000"}},
)
"""With its profiles, and the switches in them that are not as in 1.26 (GEN-1)."""
