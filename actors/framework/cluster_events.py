"""Cluster events: changes that may let an unschedulable pod fit, and who waits for which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any

import attrs

from testbed.objects import Meta, Node, Pod

POD_ADDED, POD_UPDATED, POD_DELETED = "pod added", "pod updated", "pod deleted"
"""Events of pods that have a node. A pod that has ended counts as deleted (SCH-21)."""
NODE_ADDED, NODE_DELETED = "node added", "node deleted"
NODE_ALLOCATABLE, NODE_LABELS = "node allocatable", "node labels"
NODE_TAINTS, NODE_CONDITIONS = "node taints", "node conditions"
"""What has changed of a node. The end of a cordon counts as a change of its taints."""
TIMEOUT = "timeout"
"""A pod has waited for too long; every pod waits for that."""

ANY_POD = frozenset({POD_ADDED, POD_UPDATED, POD_DELETED})
NODE_UPDATED = frozenset({NODE_ALLOCATABLE, NODE_LABELS, NODE_TAINTS, NODE_CONDITIONS})
ANY_EVENT = ANY_POD | NODE_UPDATED | {NODE_ADDED, NODE_DELETED}

GATES = "SchedulingGates"
"""Stands for a filter among those that refused a pod: it has scheduling gates (SCH-14)."""
NOMINATED = "scheduler.kubernetes.io/nominated-node-name"
"""The annotation that had the nomination before there was a field for it (SCH-50)."""

KEPT: Callable[[Meta], tuple[Any, ...]] = attrgetter(
    *(
        field.name for field in attrs.fields(Meta)
        if field.name not in ("revision", "generation", "finalizers", "annotations")
    )
)  # fmt: skip
"""The fields of a Meta that count as a change of the pod; annotations are compared apart."""


def wakes_of(filters: Iterable[Any]) -> Mapping[str, frozenset[str]]:
    """The events each filter waits for, by its name; all if it does not say (SCH-22)."""
    waits = {each.name: frozenset(getattr(each, "wakes", ANY_EVENT)) for each in filters}
    return {GATES: frozenset({POD_UPDATED}), **waits}


def is_awaited(
    event: str, refused_by: Collection[str], wakes: Mapping[str, frozenset[str]]
) -> bool:
    """Whether an event may help a pod that these filters refused (SCH-20).

    Any event may help a pod that no filter refused, since it failed by an error, and a pod that
    was refused by something that `wakes` does not know.
    """
    if event == TIMEOUT or not refused_by:
        return True
    return any(event in wakes.get(name, ANY_EVENT) for name in refused_by)


def change_of(old: Node, new: Node) -> str | None:
    """The event that stands for an update of a node: the first change that matters (SCH-21)."""
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
    """Whether more has changed of a pod than its status and what the server keeps in its metadata;
    then it may fit now (SCH-26). A nomination counts as status, also as an annotation."""
    if old.spec != new.spec or old.extra != new.extra or KEPT(old.meta) != KEPT(new.meta):
        return True
    notes, now = old.meta.annotations, new.meta.annotations
    return notes is not now and _without_nomination(notes) != _without_nomination(now)


def _without_nomination(notes: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in notes.items() if name != NOMINATED}
