"""InterPodAffinity: prefers nodes by the preferred affinity of the pod and of pods there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from actors.framework.podinfo import PodInfo, Term
from actors.framework.pods_by_kind import PodKind
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score

FOR_REQUIRED = 1
"""The weight of a required affinity term of a pod that is there (hardPodAffinityWeight)."""
THEIRS = {"affinity": 1, "liked": 1, "disliked": -1}
"""Which terms of other pods count, and whether for (1) or against (-1) the place."""
Counts = dict[str, dict[str, int]]
"""The points of each topology domain, by topology key and value."""


class InterPodAffinityScore(Score):
    """Sums the weights of terms that match, in the topology domains of a node."""

    name = "InterPodAffinity"
    weight = 2

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> Counts:
        """The points of each topology domain."""
        counts: Counts = {}
        for weight, term, kind in _bonds(pod, snapshot):
            liked = counts.setdefault(term.topology_key, {})
            for name, count in kind.count_on.items():
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
        """Scale the points from lowest to highest; in float64, then truncated, like Kubernetes."""
        if not state:
            return scores
        least = int(scores.min())
        span = int(scores.max()) - least
        stretched: Column = (float(BEST) * ((scores - least) / max(span, 1))).astype(np.int64)
        return stretched


def _bonds(pod: PodInfo, snapshot: Snapshot) -> Iterator[tuple[int, Term, PodKind]]:
    """Each term that draws the pod to others or away from them: its weight, and where they are."""
    by_kind, namespaces = snapshot.pods_by_kind, snapshot.namespaces
    for sign, terms in ((1, pod.liked), (-1, pod.disliked)):
        for preferred in terms:
            for kind in by_kind.kinds:
                if preferred.term.matches(kind.example, namespaces):
                    yield sign * preferred.weight, preferred.term, kind
    for which, sign in THEIRS.items():
        for each, kind in by_kind.with_terms(which):
            if isinstance(each, Term):
                weight, term = FOR_REQUIRED, each
            else:
                weight, term = each.weight, each.term
            if term.matches(pod, namespaces):
                yield sign * weight, term, kind
