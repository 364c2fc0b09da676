"""Overtime: a pod that terminates for so long that it is no longer counted on."""

from __future__ import annotations

from testbed.objects import Pod

GRACE_S = 30
"""The grace of a pod that states none."""
OVERTIME_MS = 30_000
"""How long after its grace a terminating pod is still counted on."""


def is_long_terminating(pod: Pod, now_ms: int) -> bool:
    """Whether the pod should have been gone for long: it is more than its grace and 30 s after the
    time by which it was to be deleted (CA-25)."""
    if pod.meta.deleted_ms is None:
        return False
    grace_s = GRACE_S if pod.spec.grace_s is None else pod.spec.grace_s
    return pod.meta.deleted_ms + 1000 * grace_s + OVERTIME_MS < now_ms
