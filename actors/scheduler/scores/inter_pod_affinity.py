"""InterPodAffinity: likes nodes near the pods a pod would like to be near, or that like it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from actors.framework.podinfo import PodInfo, Term
from actors.framework.snapshot import Column, Snapshot
from actors.framework.topology_counts import Stand
from actors.scheduler.score import BEST, Score

FOR_REQUIRED = 1
"""What it counts that a pod which is there must be near this one (hardPodAffinityWeight)."""
THEIRS = {"affinity": 1, "liked": 1, "disliked": -1}
"""Which terms of others count, and whether for or against the place."""
Counts = dict[str, dict[str, int]]
"""How much a value of a label of nodes is liked, by label and value."""


class InterPodAffinityScore(Score):
    """By the weights of the preferred terms, of the pod and of those that are there already."""

    name = "InterPodAffinity"
    weight = 2

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> Counts:
        """How much each place is liked."""
        counts: Counts = {}
        for weight, term, stand in _bonds(pod, snapshot):
            liked = counts.setdefault(term.topology_key, {})
            for name, count in stand.on.items():
                value = snapshot.infos[snapshot.row[name]].labels.get(term.topology_key)
                if value is not None:
                    liked[value] = liked.get(value, 0) + weight * count
        return counts

    def score_all(self, state: Counts, snapshot: Snapshot, rows: Column) -> Column:
        total = np.zeros(len(rows), np.int64)
        for key, liked in state.items():
            codes, values = snapshot.label(key)
            total += np.array([*(liked.get(v, 0) for v in values), 0], np.int64)[codes[rows]]
        return total

    def normalise(self, state: Counts, scores: Column) -> Column:
        """From the least liked to the best, in the floating point numbers of the real one."""
        if not state:
            return scores
        least = int(scores.min())
        span = int(scores.max()) - least
        stretched: Column = (float(BEST) * ((scores - least) / max(span, 1))).astype(np.int64)
        return stretched


def _bonds(pod: PodInfo, snapshot: Snapshot) -> Iterator[tuple[int, Term, Stand]]:
    """What draws the pod to some others, or away from them: how much, by which term."""
    standing, namespaces = snapshot.standing, snapshot.namespaces
    for sign, wishes in ((1, pod.liked), (-1, pod.disliked)):
        for wish in wishes:
            for stand in standing.kinds:
                if wish.term.matches(stand.like, namespaces):
                    yield sign * wish.weight, wish.term, stand
    for which, sign in THEIRS.items():
        for each, stand in standing.with_terms(which):
            if isinstance(each, Term):
                weight, term = FOR_REQUIRED, each
            else:
                weight, term = each.weight, each.term
            if term.matches(pod, namespaces):
                yield sign * weight, term, stand
