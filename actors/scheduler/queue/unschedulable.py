"""Unschedulable: the pods that fit nowhere and wait for news, in groups that wait for the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from actors.framework.cluster_events import GATES
from actors.scheduler.queue.queued import QueuedPod
from testbed.objects import Pod

Group = tuple[frozenset[str], bool]
"""Which filters refused a pod, and whether it must be near others."""


def must_be_near(pod: Pod) -> bool:
    """Whether a pod has to be near others, so that one that comes may help it (SCH-24)."""
    affinity = pod.spec.affinity
    return bool(affinity and affinity.pod_affinity and affinity.pod_affinity.required)


class Unschedulable:
    """By key, and by group; so an event costs as much as it moves, however many wait for others.

    Within a group they stand as they came, which is by `since_ms`, too.
    """

    def __init__(self) -> None:
        self._group_of: dict[str, Group] = {}
        self._groups: dict[Group, dict[str, QueuedPod]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._group_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._group_of)

    def values(self) -> Iterator[QueuedPod]:
        """Those that wait here, as they came."""
        return (self._groups[group][key] for key, group in self._group_of.items())

    def get(self, key: str) -> QueuedPod | None:
        """The pod that waits here under that key."""
        group = self._group_of.get(key)
        return None if group is None else self._groups[group][key]

    def put(self, queued: QueuedPod) -> None:
        """Let it wait for news; at its place, if it did already."""
        key, group = queued.pod.key, (queued.refused_by, must_be_near(queued.pod))
        if self._group_of.get(key) != group:
            self.drop(key)
            self._group_of[key] = group
        self._groups.setdefault(group, {})[key] = queued

    def drop(self, key: str) -> None:
        """It waits here no more."""
        group = self._group_of.pop(key, None)
        if group is not None:
            pods = self._groups[group]
            del pods[key]
            if not pods:
                del self._groups[group]

    def groups(self) -> Iterator[tuple[Group, list[QueuedPod]]]:
        """Every group, with those in it; they may be dropped while this is read."""
        for group in list(self._groups):
            yield group, list(self._groups[group].values())

    @property
    def since_ms(self) -> int | None:
        """Since when that one has waited which has waited longest."""
        return min((next(iter(pods.values())).since_ms for pods in self._ungated()), default=None)

    def before(self, ms: int) -> list[QueuedPod]:
        """Those that have waited since before then."""
        return [
            queued
            for pods in self._ungated()
            for queued in takewhile(lambda queued: queued.since_ms < ms, pods.values())
        ]

    def _ungated(self) -> Iterator[dict[str, QueuedPod]]:
        """The groups; but no time lets those be tried that have gates."""
        return (pods for (refused_by, _), pods in self._groups.items() if GATES not in refused_by)
