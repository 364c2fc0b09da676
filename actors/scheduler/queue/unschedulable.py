"""Unschedulable: the pods that fit on no node, in groups that wait for the same events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from actors.framework.cluster_events import GATES
from actors.scheduler.queue.queued import QueuedPod
from testbed.objects import Pod

Group = tuple[frozenset[str], bool]
"""Which filters refused a pod, and whether it has required pod affinity."""


def must_be_near(pod: Pod) -> bool:
    """Whether a pod has required pod affinity, so that a pod that is added may help it (SCH-24)."""
    affinity = pod.spec.affinity
    return bool(affinity and affinity.pod_affinity and affinity.pod_affinity.required)


class Unschedulable:
    """Unschedulable pods, by key and by group. An event is matched with groups, not with pods, so
    it costs only as much as it moves.

    Within a group pods stand in the order in which they failed, which is also that of `since_ms`.
    """

    def __init__(self) -> None:
        self._group_of: dict[str, Group] = {}
        self._groups: dict[Group, dict[str, QueuedPod]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._group_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._group_of)

    def values(self) -> Iterator[QueuedPod]:
        """All pods, in the order in which they were put here."""
        return (self._groups[group][key] for key, group in self._group_of.items())

    def get(self, key: str) -> QueuedPod | None:
        """The pod of that key, or None."""
        group = self._group_of.get(key)
        return None if group is None else self._groups[group][key]

    def put(self, queued: QueuedPod) -> None:
        """Add a pod. One that is here already, in the same group, keeps its place."""
        key, group = queued.pod.key, (queued.refused_by, must_be_near(queued.pod))
        if self._group_of.get(key) != group:
            self.drop(key)
            self._group_of[key] = group
        self._groups.setdefault(group, {})[key] = queued

    def drop(self, key: str) -> None:
        """Take out the pod of that key, if it is here."""
        group = self._group_of.pop(key, None)
        if group is not None:
            pods = self._groups[group]
            del pods[key]
            if not pods:
                del self._groups[group]

    def groups(self) -> Sequence[Group]:
        """Every group. Pods may be dropped while the caller iterates."""
        return list(self._groups) if self._groups else ()

    def of(self, group: Group) -> list[QueuedPod]:
        """The pods of a group that is here."""
        return list(self._groups[group].values())

    def since_ms(self) -> int | None:
        """The `since_ms` of the pod that has waited longest, pods with gates not counted."""
        found: int | None = None
        for (refused_by, _), pods in self._groups.items():
            if GATES in refused_by:
                continue
            for queued in pods.values():
                if found is None or queued.since_ms < found:
                    found = queued.since_ms
                break
        return found

    def before(self, ms: int) -> list[QueuedPod]:
        """The pods that have waited since before `ms`, without those that have gates."""
        return [
            queued
            for pods in self._ungated()
            for queued in takewhile(lambda queued: queued.since_ms < ms, pods.values())
        ]

    def _ungated(self) -> Iterator[dict[str, QueuedPod]]:
        """The groups without gates: a pod with gates is not tried, however long it has waited."""
        return (pods for (refused_by, _), pods in self._groups.items() if GATES not in refused_by)
