"""Cluster events: what may let a pod fit that did not, and which filters wait for which of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from testbed.objects import Map, Node, Pod
from testbed.objects.pod import PodStatus

POD_ADDED, POD_UPDATED, POD_DELETED = "pod added", "pod updated", "pod deleted"
"""Of pods that have a node; one that is over counts as deleted (SCH-21)."""
NODE_ADDED, NODE_DELETED = "node added", "node deleted"
NODE_ALLOCATABLE, NODE_LABELS = "node allocatable", "node labels"
NODE_TAINTS, NODE_CONDITIONS = "node taints", "node conditions"
"""What of a node has changed; that it may be scheduled to again goes by its taints."""
TIMEOUT = "timeout"
"""That a pod has waited for long; everybody waits for that."""

ANY_POD = frozenset({POD_ADDED, POD_UPDATED, POD_DELETED})
NODE_UPDATED = frozenset({NODE_ALLOCATABLE, NODE_LABELS, NODE_TAINTS, NODE_CONDITIONS})
ANY_EVENT = ANY_POD | NODE_UPDATED | {NODE_ADDED, NODE_DELETED}

GATES = "SchedulingGates"
"""What keeps a pod back that has gates, in the place of a filter (SCH-14)."""
NOMINATED = "scheduler.kubernetes.io/nominated-node-name"
"""The annotation in which a nomination was once written (SCH-50)."""


def wakes_of(filters: Iterable[Any]) -> Mapping[str, frozenset[str]]:
    """The events each filter waits for, by its name; all of them if it has not said (SCH-22)."""
    waits = {each.name: frozenset(getattr(each, "wakes", ANY_EVENT)) for each in filters}
    return {GATES: frozenset({POD_UPDATED}), **waits}


def is_awaited(
    event: str, refused_by: Collection[str], wakes: Mapping[str, frozenset[str]]
) -> bool:
    """Whether that event is news to a pod that these refused (SCH-20). One that none refused was
    kept back by an error, and takes any news; so does one that is refused by who knows what."""
    if event == TIMEOUT or not refused_by:
        return True
    return any(event in wakes.get(name, ANY_EVENT) for name in refused_by)


def change_of(old: Node, new: Node) -> str | None:
    """The event that an update of a node is: the first thing of these that has changed (SCH-21)."""
    if old.spec.unschedulable and not new.spec.unschedulable:
        return NODE_TAINTS
    if old.status.allocatable != new.status.allocatable:
        return NODE_ALLOCATABLE
    if old.meta.labels != new.meta.labels:
        return NODE_LABELS
    if old.spec.taints != new.spec.taints:
        return NODE_TAINTS
    return NODE_CONDITIONS if _conditions(old) != _conditions(new) else None


def _conditions(node: Node) -> dict[str, str]:
    return {each.type: each.status for each in node.status.conditions}


def is_changed(old: Pod, new: Pod) -> bool:
    """Whether more has changed of a pod than its status and its books, so that it may fit now
    (SCH-26). A nomination is of its status, also where it is written as an annotation."""
    return old.spec != new.spec or _wanted(old) != _wanted(new)


def _wanted(pod: Pod) -> Pod:
    notes = {name: text for name, text in pod.meta.annotations.items() if name != NOMINATED}
    meta = attrs.evolve(
        pod.meta, revision=type(pod.meta.revision)(), generation=0, finalizers=(),
        annotations=Map(notes),
    )  # fmt: skip
    return attrs.evolve(pod, meta=meta, status=PodStatus())
