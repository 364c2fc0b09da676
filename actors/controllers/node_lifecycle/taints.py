"""Taints: those that a node should have by its conditions, and those it has of that kind."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.objects import Condition, Node, Taint, condition
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE
from testbed.objects.calendar import whole_second
from testbed.objects.condition import FALSE, TRUE, UNKNOWN

PREFIX = "node.kubernetes.io/"
NOT_READY, UNREACHABLE = f"{PREFIX}not-ready", f"{PREFIX}unreachable"
UNSCHEDULABLE = f"{PREFIX}unschedulable"
READY = "Ready"
BY_CONDITION = {
    (READY, FALSE): NOT_READY,
    (READY, UNKNOWN): UNREACHABLE,
    ("MemoryPressure", TRUE): f"{PREFIX}memory-pressure",
    ("DiskPressure", TRUE): f"{PREFIX}disk-pressure",
    ("NetworkUnavailable", TRUE): f"{PREFIX}network-unavailable",
    ("PIDPressure", TRUE): f"{PREFIX}pid-pressure",
}
"""By a condition and its status, the key of the taint that mirrors it (KUB-39)."""
MIRRORED = frozenset({*BY_CONDITION.values(), UNSCHEDULABLE})
BY_READINESS = {FALSE: NOT_READY, UNKNOWN: UNREACHABLE}
"""By the status of Ready, the key of the taint that lets pods be deleted (CTL-33)."""


@attrs.frozen
class Swap:
    """Taints to add to a node, and taints to remove from it, by key and effect."""

    add: tuple[tuple[str, str], ...] = ()
    remove: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)

    def of(self, taints: Iterable[Taint], now_ms: int) -> tuple[Taint, ...]:
        """The taints of a node after it. A taint that is there already stays as it is."""
        before = tuple(taints)
        has = {(taint.key, taint.effect) for taint in before}
        stay = (taint for taint in before if (taint.key, taint.effect) not in self.remove)
        second_ms = whole_second(now_ms)
        new = (
            Taint(key, "", effect, second_ms)
            for key, effect in self.add
            if (key, effect) not in has
        )
        return (*stay, *new)


def mirrored(node: Node) -> Swap:
    """What must change so that the NoSchedule taints mirror the conditions of a node. Taints of any
    other key are left alone."""
    wanted = [
        key
        for each in node.status.conditions
        if (key := BY_CONDITION.get((each.type, each.status))) is not None
    ]
    if node.spec.unschedulable:
        wanted.append(UNSCHEDULABLE)
    has = [t.key for t in node.spec.taints if t.effect == NO_SCHEDULE and t.key in MIRRORED]
    return Swap(
        tuple((key, NO_SCHEDULE) for key in wanted if key not in has),
        tuple((key, NO_SCHEDULE) for key in has if key not in wanted),
    )


def evicting(status: str) -> Swap:
    """What gives a node the NoExecute taint of that status of Ready, in place of the other one."""
    key = BY_READINESS[status]
    other = UNREACHABLE if key == NOT_READY else NOT_READY
    return Swap(((key, NO_EXECUTE),), ((other, NO_EXECUTE),))


REACHABLE = Swap((), ((UNREACHABLE, NO_EXECUTE), (NOT_READY, NO_EXECUTE)))
"""What takes both NoExecute taints from a node that is ready again."""


def has_taint(node: Node, key: str, effect: str) -> bool:
    """Whether a node has that taint."""
    return any(taint.key == key and taint.effect == effect for taint in node.spec.taints)


def ready_of(node: Node) -> Condition | None:
    """The condition Ready of a node, if its kubelet has ever posted one."""
    return condition.find(node.status.conditions, READY)
