"""Thresholds: no eviction without a shortage that has lasted for its grace, and no pressure long
after it (INV-29)."""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.kubelet.eviction.threshold import Threshold
from actors.kubelet.invariants.measured_nodes import LOOKED, RESOURCE, MeasuredNode, Records
from testbed import Evidence, Invariant
from testbed.invariant import RECORD, RECORDS
from testbed.objects import Node
from testbed.objects.meta import key_of
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step

CONDITION = {
    "memory": "MemoryPressure",
    "ephemeral-storage": "DiskPressure",
    "inodes": "DiskPressure",
    "pids": "PIDPressure",
}


@attrs.define
class _Shortage:
    """What a claim remembers of one threshold."""

    since_ms: int
    is_due: bool = False
    """Whether it has lasted for its grace; then it lasts until enough is reclaimed."""


class EvictsOnlyWhenShort(Invariant):
    """A kubelet evicts a pod for a resource only if a threshold of it was met at every look during
    its grace period. A condition of the node is True only if a threshold of it was met within the
    transition period."""

    name = "evicts_only_when_short"
    breach_reason = FORBIDDEN
    reads = frozenset({RECORDS})
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self) -> None:
        self._records = Records()
        self._short: dict[tuple[tuple[str, int], Threshold], _Shortage] = {}
        """By life of a kubelet and threshold."""
        self._observed_ms: dict[tuple[tuple[str, int], str], int] = {}
        """By life and condition, when it was last observed."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for found in self._records.new(evidence):
            if found.record.name == LOOKED:
                wrong = self._noticed(found, evidence.now_ms)
            else:
                wrong = self._wrong_eviction(found)
            if wrong:
                return wrong
        return None

    def _noticed(self, found: MeasuredNode, now_ms: int) -> Found | None:
        """Remember which thresholds are met now; returns what is wrong with the conditions."""
        for each in found.evictor.settings.all_thresholds:
            key = (found.life, each)
            if not _is_short(found, each, reclaim=key in self._short and self._short[key].is_due):
                self._short.pop(key, None)
                continue
            shortage = self._short.setdefault(key, _Shortage(now_ms))
            shortage.is_due |= now_ms - shortage.since_ms >= each.grace_ms
            self._observed_ms[found.life, CONDITION[RESOURCE[each.signal]]] = now_ms
        for name in found.record.facts["pressures"]:
            at_ms = self._observed_ms.get((found.life, name))
            if at_ms is None or now_ms - at_ms >= found.evictor.settings.transition_ms:
                text = f"{found.kubelet.name} reports {name}, last observed at {at_ms} ms"
                return self._of(found, text, field="status.conditions")
        return None

    def _wrong_eviction(self, found: MeasuredNode) -> Found | None:
        resource, pod = found.record.facts["resource"], found.record.facts["pod"]
        due = (
            each
            for (life, each), shortage in self._short.items()
            if life == found.life and shortage.is_due and RESOURCE[each.signal] == resource
        )
        if any(_is_short(found, each, reclaim=True) for each in due):
            return None
        text = f"{found.kubelet.name} evicted {pod}, and its node was not short of {resource}"
        return self._of(found, text, pod)

    @staticmethod
    def _of(found: MeasuredNode, text: str, *keys: str, field: str = "") -> Found:
        """What is wrong with a kubelet, about its node, too."""
        node, fields = key_of(Node, found.kubelet.node), (field,) if field else ()
        return Found.of(text, *keys, node, fields=fields, actors=found.kubelet.name)


def _is_short(found: MeasuredNode, threshold: Threshold, *, reclaim: bool) -> bool:
    """Whether too little is available for that threshold now."""
    available = found.available(threshold.signal)
    if available is None:
        return False
    has = found.has[RESOURCE[threshold.signal]]
    if threshold.signal == "allocatableMemory.available":
        has = found.evictor.settings.allocatable(found.room, has)
    least = threshold.value.of(has).whole
    return available < least + (threshold.reclaim.of(has).whole if reclaim else 0)
