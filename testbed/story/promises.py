"""Promises: what one actor writes so that others leave something alone, by Kubernetes' own rules.

A nomination holds the room on a node for a pod that waits for it. A cordon keeps new pods off a
node. Neither is enforced by an API server: a bind that goes against it takes effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.objects.meta import field_of
from testbed.story.knowledge import Knowledge, Version
from testbed.story.wording import NODE

NOMINATED = (
    "status.nominated_node_name",
    "meta.annotations.scheduler.kubernetes.io/nominated-node-name",
)
"""The fields that nominate a node for a pod, today and in the first releases with preemption."""
CORDONED = "spec.unschedulable"


def nominations(knowledge: Knowledge, version: Version) -> Iterator[Version]:
    """The writes that nominated the node of this bind for other pods, which still waited."""
    new, old = version.change.new, version.change.old
    node = field_of(new.value, NODE) if new is not None else None
    if not node or (old is not None and field_of(old.value, NODE) == node):
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


def cordons(knowledge: Knowledge, version: Version) -> Iterator[Version]:
    """The write that closed the node of this bind, if it is closed."""
    new, old = version.change.new, version.change.old
    node = field_of(new.value, NODE) if new is not None else None
    if not node or (old is not None and field_of(old.value, NODE) == node):
        return
    versions = knowledge.versions.get(f"nodes/{node}", [])
    before = [v for v in versions if v.step < version.step]
    if before and before[-1].change.new and field_of(before[-1].change.new.value, CORDONED):
        yield _since(before, CORDONED)


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
