"""Promises: what one actor writes so that others leave something alone, by Kubernetes' own rules.

A nomination holds room on a node for a pod that waits for it. A cordon keeps new pods off a node.
No API server enforces either: a bind against it takes effect. A budget holds against evictions, by
what its status counted last; a delete does not ask it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testbed.objects.meta import field_of
from testbed.story.causality import Causality
from testbed.story.knowledge import Act, Knowledge, Version
from testbed.story.wording import DELETED, EVICT, NODE, PHASE, RUNNING, ended_for

NOMINATED = (
    "status.nominated_node_name",
    "meta.annotations.scheduler.kubernetes.io/nominated-node-name",
)
"""The fields that nominate a node for a pod, today and in the first releases with preemption."""
CORDONED = "spec.unschedulable"
BUDGETS, ALLOWED = "poddisruptionbudgets", "status.disruptions_allowed"


def nominations(knowledge: Knowledge, version: Version) -> Iterator[Version]:
    """The writes that nominated the node of this bind for other pods, which still waited."""
    node = _given(version)
    if not node:
        return
    for key, versions in knowledge.versions.items():
        before = [v for v in versions if v.step < version.step]
        if key == version.key or not before or before[-1].change.new is None:
            continue
        pod = before[-1].change.new.value
        if field_of(pod, NODE) or all(field_of(pod, field) != node for field in NOMINATED):
            continue
        field = next(field for field in NOMINATED if field_of(pod, field) == node)
        yield _since(before, field)


def rooms_made(
    knowledge: Knowledge, causality: Causality, version: Version
) -> Iterator[tuple[str, Act]]:
    """The pods that still wait for room that was made for them on the node of this bind; each with
    the record of that. Other programs can read of such room only if the pod is nominated."""
    node = _given(version)
    if not node:
        return
    records = {act.record.number: act for act in knowledge.acts if act.record}
    for ended in _removed(knowledge, 0, version.step):
        was = ended.change.old
        made = records.get(causality.steps[ended.step].because)
        if was is None or made is None or field_of(was.value, NODE) != node:
            continue
        waits = _made_for(made)
        last = [v for v in knowledge.versions.get(waits, []) if v.step < version.step][-1:]
        is_waiting = last and last[0].change.new and not field_of(last[0].change.new.value, NODE)
        if is_waiting and waits not in (ended.key, version.key):
            yield waits, made


def _made_for(made: Act) -> str:
    """The pod that this record makes room for, if it says so."""
    facts = made.record.facts if made.record is not None else {}
    return str(facts.get("for") or (facts.get("pod", "") if "preemption" in facts else ""))


def cordons(knowledge: Knowledge, version: Version) -> Iterator[Version]:
    """The write that closed the node of this bind, if it is closed."""
    node = _given(version)
    if not node:
        return
    versions = knowledge.versions.get(f"nodes/{node}", [])
    before = [v for v in versions if v.step < version.step]
    if before and before[-1].change.new and field_of(before[-1].change.new.value, CORDONED):
        yield _since(before, CORDONED)


def _given(version: Version) -> str:
    """The node that this write gave to a pod, if it did."""
    new, old = version.change.new, version.change.old
    node = field_of(new.value, NODE) if new is not None else None
    return "" if not node or (old is not None and field_of(old.value, NODE) == node) else str(node)


def protections(knowledge: Knowledge, version: Version) -> Iterator[Version]:
    """If this deletes a pod, or is how its kubelet ends it: for each budget that covers the pod and
    allows no disruption, the write since which that is so. Neither act asks a budget."""
    old: Any = version.change.old
    # Of a pod that its kubelet refuses, nothing ran.
    has_run = old is not None and field_of(old.value, PHASE) == RUNNING
    is_one = version.word == "delete" or (has_run and bool(ended_for(version)))
    if not is_one or not version.key.startswith("pods/") or old is None:
        return
    for key, versions in knowledge.versions.items():
        before = [v for v in versions if v.step < version.step]
        new: Any = before[-1].change.new if before and key.startswith(f"{BUDGETS}/") else None
        is_closed = new is not None and new.value.status.disruptions_allowed <= 0
        if is_closed and new.value.covers(old.value.meta):
            yield _since(before, ALLOWED)


def uncounted(knowledge: Knowledge, version: Version) -> Iterator[tuple[str, Version]]:
    """Each budget that allowed this eviction, with each removal of another pod of its own that it
    had not counted: made after the budget's status was last counted, by a write other than an
    eviction, and before this eviction began."""
    for key, versions in knowledge.versions.items() if version.word == EVICT else ():
        if not key.startswith(f"{BUDGETS}/"):
            continue
        of_it = [v for v in versions if v.asked == version.key and v.step <= version.step]
        if not of_it:
            continue
        entry: Any = of_it[-1].change.old
        began = of_it[-1].step
        counts = [v.step for v in versions if v.word != EVICT and v.step < began]
        for gone in _removed(knowledge, max(counts, default=0), began):
            pod: Any = gone.change.old
            is_other = gone.key != version.key and not _was_counted(versions, gone)
            if is_other and entry and pod and entry.value.covers(pod.value.meta):
                yield key, gone


def _was_counted(versions: list[Version], gone: Version) -> bool:
    """Whether the budget was charged for that removal by an eviction."""
    return any(version.asked == gone.key for version in versions)


def _removed(knowledge: Knowledge, since: int, until: int) -> list[Version]:
    """Of each pod that was removed between these Steps, the write that marked or removed it."""
    found = []
    for key, versions in knowledge.versions.items() if since < until else ():
        gone = [v for v in versions if key.startswith("pods/") and _is_going(v)]
        found += [v for v in gone[:1] if since < v.step < until]
    return found


def _is_going(version: Version) -> bool:
    new = version.change.new
    return new is None or field_of(new.value, DELETED) is not None


def _since(versions: list[Version], field: str) -> Version:
    """The write since which that field has been as it is in the last of these."""
    last = versions[-1].change.new
    assert last is not None
    value, found = field_of(last.value, field), versions[-1]
    for version in reversed(versions):
        new = version.change.new
        if new is None or field_of(new.value, field) != value:
            break
        found = version
    return found
