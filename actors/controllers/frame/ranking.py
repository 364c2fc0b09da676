"""Ranking: which pods of an owner are deleted first when it has too many (CTL-5).

Unassigned before assigned; Pending before Unknown before Running; not ready before ready; the lower
deletion cost; where more related pods are on the node; ready for a shorter time; restarted more
often; newer. Times are compared by their power of two, so that not all young pods go together with
what they run on; within one, the uid decides. The priority of a pod does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key, partial

from actors.controllers.frame import pod_state
from testbed.objects import Pod
from testbed.objects.pod import PENDING, RUNNING

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
"""The annotation by which a pod says how bad it would be to delete it."""
PHASES = {PENDING: 0, "": 0, "Unknown": 1, RUNNING: 2}
NS_PER_MS = 1_000_000


def to_delete(pods: list[Pod], related: Iterable[Pod], count: int, now_ms: int) -> list[Pod]:
    """The pods to delete, the least important first."""
    if count >= len(pods):
        return pods
    beside: dict[str, int] = {}
    for pod in related:
        if pod_state.is_active(pod):
            beside[pod.spec.node_name] = beside.get(pod.spec.node_name, 0) + 1
    order = partial(_compared, beside, now_ms)
    return sorted(pods, key=cmp_to_key(order))[:count]


def cost_of(pod: Pod) -> int:
    """Its deletion cost; 0 if it has none, or a bad one."""
    text = pod.meta.annotations.get(DELETION_COST) or "0"
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or (digits != "0" and digits[0] == "0"):
        return 0
    cost = int(text) if len(digits) <= 10 else 1 << 40
    return cost if -(1 << 31) <= cost < 1 << 31 else 0


def _compared(beside: dict[str, int], now_ms: int, one: Pod, other: Pod) -> int:
    """Negative if `one` is deleted before `other`."""
    mine, theirs = _rank(beside, one), _rank(beside, other)
    if mine != theirs:
        return -1 if mine < theirs else 1
    ready, ready_too = pod_state.ready_since_ms(one), pod_state.ready_since_ms(other)
    if ready is not None and ready_too is not None and ready != ready_too:
        return _younger(ready, ready_too, now_ms, one, other)
    if gap := pod_state.restarts(other) - pod_state.restarts(one):
        return gap
    made, made_too = one.meta.created_ms or 0, other.meta.created_ms or 0
    return 0 if made == made_too else _younger(made, made_too, now_ms, one, other)


def _rank(beside: dict[str, int], pod: Pod) -> tuple[bool, int, bool, int, int]:
    """What counts before all times."""
    node = pod.spec.node_name
    return (
        bool(node), PHASES.get(pod.status.phase, 0), pod_state.is_ready(pod), cost_of(pod),
        -beside.get(node, 0),
    )  # fmt: skip


def _younger(ms: int, other_ms: int, now_ms: int, one: Pod, other: Pod) -> int:
    """Negative if the first time is shorter ago by a power of two, or else the uid is smaller."""
    gap = _power(now_ms - ms) - _power(now_ms - other_ms)
    return gap or (-1 if one.meta.uid < other.meta.uid else 1)


def _power(age_ms: int) -> int:
    """The power of two of an age, in nanoseconds as Kubernetes has it; -1 for no age at all."""
    return (age_ms * NS_PER_MS).bit_length() - 1 if age_ms > 0 else -1
