"""InterPodAffinity: likes nodes near the pods a pod would like to be near, or that like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo, Term
from actors.scheduler.score import BEST, Score
from actors.scheduler.snapshot import Column, Snapshot

FOR_REQUIRED = 1
"""What it counts that a pod which is there must be near this one (hardPodAffinityWeight)."""
Counts = dict[str, dict[str, int]]
"""How much a value of a label of nodes is liked, by label and value."""


class InterPodAffinity(Score):
    """By the weights of the preferred terms, of the pod and of those that are there already."""

    name = "InterPodAffinity"
    weight = 2

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> Counts:
        """How much each place is liked."""
        counts: Counts = {}
        for node in _concerned(pod, snapshot):
            for other in node.pods:
                for weight, term in _bonds(pod, other, snapshot):
                    value = node.labels.get(term.topology_key)
                    if value is not None:
                        liked = counts.setdefault(term.topology_key, {})
                        liked[value] = liked.get(value, 0) + weight
        return counts

    def score_all(self, state: Counts, snapshot: Snapshot, rows: Column) -> Column:
        total = np.zeros(len(rows), np.int64)
        for key, liked in state.items():
            codes, values = snapshot.label(key)
            total += np.array([*(liked.get(v, 0) for v in values), 0], np.int64)[codes[rows]]
        return total

    def normalise(self, state: Counts, scores: Column) -> Column:
        """From the least liked to the best, in the floating point numbers of the real one."""
        least = int(scores.min())
        span = int(scores.max()) - least
        stretched: Column = (float(BEST) * ((scores - least) / max(span, 1))).astype(np.int64)
        return stretched


def _concerned(pod: PodInfo, snapshot: Snapshot) -> Sequence[NodeInfo]:
    """The nodes with pods that may matter: all, if it is the pod that has wishes."""
    if pod.liked or pod.disliked:
        return snapshot.infos
    return [snapshot.infos[row] for row in snapshot.with_terms]


def _bonds(pod: PodInfo, other: PodInfo, snapshot: Snapshot) -> Iterator[tuple[int, Term]]:
    """What draws the pod to where the other is, or keeps it away: how much, by which term."""
    namespaces = snapshot.namespaces
    for wish in pod.liked:
        if wish.term.matches(other, namespaces):
            yield wish.weight, wish.term
    for wish in pod.disliked:
        if wish.term.matches(other, namespaces):
            yield -wish.weight, wish.term
    if not other.has_terms:
        return
    for term in other.affinity:
        if term.matches(pod, namespaces):
            yield FOR_REQUIRED, term
    for wish in other.liked:
        if wish.term.matches(pod, namespaces):
            yield wish.weight, wish.term
    for wish in other.disliked:
        if wish.term.matches(pod, namespaces):
            yield -wish.weight, wish.term
