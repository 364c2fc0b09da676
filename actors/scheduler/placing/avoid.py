"""An experiment: a workload avoids for a while a node that has evicted a pod of it (SCH-108).

Kubernetes has nothing like it, so a pod may go back and forth between a scheduler that places it
and a kubelet that evicts it. The scheduler cannot know better: its informer leaves out pods that
have ended, so an evicted pod reaches it as a deletion with the state from before (API-45). With
this experiment it also watches failed pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from actors.framework.filter import Filter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score
from actors.scheduler.switches import SchedulerSwitches
from testbed import Selector
from testbed.objects import Pod, condition
from testbed.objects.pod import FAILED

TEMPLATE = "pod-template-hash"
"""The label that all pods of one template share."""
EVICTED = "Evicted"
"""The reason in the status of a pod that a kubelet has evicted."""
HAVE_FAILED = Selector(fields=(("status.phase", FAILED),))
"""The pods to watch besides those that have not ended."""


class Evictions:
    """Remembers which nodes have recently evicted a pod of which workload."""

    def __init__(self, window_ms: int, clock: Callable[[], int]) -> None:
        """`clock` gives the current time; an eviction is forgotten after the window."""
        self._window_ms, self._clock = window_ms, clock
        self._at_ms: dict[tuple[str, str], int] = {}

    def note(self, pod: Pod) -> None:
        """Called with a pod that has failed: if its node has evicted it, remember that.

        The time is that of its DisruptionTarget condition, or else the current time.
        """
        if pod.status.phase == FAILED and pod.status.reason == EVICTED and pod.is_bound:
            target = condition.find(pod.status.conditions, "DisruptionTarget")
            since_ms = None if target is None else target.since_ms
            at_ms = self._clock() if since_ms is None else since_ms
            for workload in workloads(pod):
                place = (workload, pod.spec.node_name)
                self._at_ms[place] = max(at_ms, self._at_ms.get(place, at_ms))

    def nodes(self, pod: Pod) -> frozenset[str]:
        """The nodes that this pod should avoid now."""
        since_ms, own = self._clock() - self._window_ms, tuple(workloads(pod))
        self._at_ms = {each: at_ms for each, at_ms in self._at_ms.items() if at_ms > since_ms}
        return frozenset(node for workload, node in self._at_ms if workload in own)


def workloads(pod: Pod) -> Iterator[str]:
    """The workloads it belongs to: its controller, and the template it was made from."""
    for owner in pod.meta.owners:
        if owner.controller:
            yield owner.uid
    if TEMPLATE in pod.meta.labels:
        yield f"{pod.meta.namespace}/{pod.meta.labels[TEMPLATE]}"


class EvictedThere(Filter):
    """Refuses the nodes to avoid: the pod waits rather than go back."""

    name = "EvictedThere"
    minds_pods = False

    def __init__(self, evictions: Evictions) -> None:
        self._evictions = evictions

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> frozenset[str] | None:
        """The nodes to avoid; None if there are none."""
        return self._evictions.nodes(pod.pod) or None

    def check(self, state: frozenset[str], node: NodeInfo) -> Refusal | None:
        if node.name not in state:
            return None
        return self.no("node(s) evicted a pod of the same workload", is_resolvable=False)


class NotEvictedThere(Score):
    """Prefers all other nodes; its weight is more than all other scores together."""

    name = "NotEvictedThere"
    weight = 1_000_000

    def __init__(self, evictions: Evictions) -> None:
        self._evictions = evictions

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> frozenset[str] | None:
        """The nodes to avoid; None if there are none."""
        return self._evictions.nodes(pod.pod) or None

    def score_all(self, state: frozenset[str], snapshot: Snapshot, rows: Column) -> Column:
        return np.array([BEST * (snapshot.names[row] not in state) for row in rows], np.int64)


def evictions_of(switches: SchedulerSwitches, clock: Callable[[], int]) -> Evictions | None:
    """The memory of a scheduler for evictions; None if the experiment is off."""
    window_ms = switches.avoid_node_after_eviction_ms
    return Evictions(window_ms, clock) if window_ms else None


def avoiding(
    switches: SchedulerSwitches, evictions: Evictions | None
) -> tuple[list[Filter], list[Score]]:
    """The filters and scores that the experiment adds to a scheduler, as the switches say."""
    if evictions is None:
        return [], []
    if switches.avoid_how == "exclude":
        return [EvictedThere(evictions)], []
    return [], [NotEvictedThere(evictions)]
