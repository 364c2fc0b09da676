"""Experiment: a workload keeps away for a while from a node that has evicted it (SCH-108).

Nothing of the kind exists in Kubernetes; so a pod may go back and forth between a scheduler that
places it and a kubelet that evicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import Filter
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.score import BEST, Score
from actors.scheduler.snapshot import Column, Snapshot
from actors.scheduler.switches import Switches
from testbed.objects import Pod

TEMPLATE = "pod-template-hash"
"""The label that pods of one template have in common."""
EVICTED = "Evicted"
"""The reason that a kubelet gives for what it has evicted."""


class Evictions:
    """Which nodes have lately evicted a pod of which workload."""

    def __init__(self, window_ms: int, clock: Callable[[], int]) -> None:
        """`clock` tells what time it is; an eviction is forgotten after the window."""
        self._window_ms, self._clock = window_ms, clock
        self._at_ms: dict[tuple[str, str], int] = {}

    def note(self, pod: Pod) -> None:
        """A pod is seen to have failed; if its node has evicted it, that is remembered."""
        if pod.is_over and pod.status.reason == EVICTED and pod.is_bound:
            for workload in workloads(pod):
                self._at_ms[workload, pod.spec.node_name] = self._clock()

    def nodes(self, pod: Pod) -> frozenset[str]:
        """The nodes that this pod is to keep away from now."""
        since_ms, own = self._clock() - self._window_ms, tuple(workloads(pod))
        self._at_ms = {each: at_ms for each, at_ms in self._at_ms.items() if at_ms > since_ms}
        return frozenset(node for workload, node in self._at_ms if workload in own)


def workloads(pod: Pod) -> Iterator[str]:
    """What it is a pod of: its controller, and the template it was made from."""
    for owner in pod.meta.owners:
        if owner.controller:
            yield owner.uid
    if TEMPLATE in pod.meta.labels:
        yield f"{pod.meta.namespace}/{pod.meta.labels[TEMPLATE]}"


class EvictedThere(Filter):
    """Refuses those nodes, so that the pod waits rather than go back."""

    name = "EvictedThere"
    minds_pods = False

    def __init__(self, evictions: Evictions) -> None:
        self._evictions = evictions

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> frozenset[str] | None:
        """The nodes it is about, if there are any."""
        return self._evictions.nodes(pod.pod) or None

    def check(self, state: frozenset[str], node: NodeInfo) -> Refusal | None:
        if node.name not in state:
            return None
        return self.no("node(s) evicted a pod of the same workload", is_resolvable=False)


class NotEvictedThere(Score):
    """Likes all other nodes better, by more than all that other scores can say."""

    name = "NotEvictedThere"
    weight = 1_000_000

    def __init__(self, evictions: Evictions) -> None:
        self._evictions = evictions

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> frozenset[str] | None:
        """The nodes it is about, if there are any."""
        return self._evictions.nodes(pod.pod) or None

    def score_all(self, state: frozenset[str], snapshot: Snapshot, rows: Column) -> Column:
        return np.array([BEST * (snapshot.names[row] not in state) for row in rows], np.int64)


def avoiding(switches: Switches, evictions: Evictions) -> tuple[list[Filter], list[Score]]:
    """What a scheduler has besides its own filters and scores, as the switches say."""
    if not switches.avoid_node_after_eviction_ms:
        return [], []
    if switches.avoid_how == "exclude":
        return [EvictedThere(evictions)], []
    return [], [NotEvictedThere(evictions)]
