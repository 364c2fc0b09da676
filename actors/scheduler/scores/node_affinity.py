"""NodeAffinity: likes nodes that are as the pod would like them."""

from __future__ import annotations

import numpy as np

from actors.scheduler.podinfo import PodInfo
from actors.scheduler.score import Score, stretched
from actors.scheduler.snapshot import Column, Snapshot
from testbed.objects.affinity import NodeSelectorTerm


class NodeAffinity(Score):
    """By the weights of the preferred terms of its affinity that the node meets."""

    name = "NodeAffinity"
    weight = 2

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        total = np.zeros(len(rows), np.int64)
        affinity = state.pod.spec.affinity
        nodes = affinity.node_affinity if affinity is not None else None
        for wish in nodes.preferred if nodes is not None else ():
            total += wish.weight * met(wish.preference, snapshot, rows)
        return total

    def normalise(self, state: PodInfo, scores: Column) -> Column:
        return stretched(scores)


def met(term: NodeSelectorTerm, snapshot: Snapshot, rows: Column) -> Column:
    """Which of these nodes meet a term: 1 or 0. Each value of a label is looked at once."""
    if not term.match_expressions and not term.match_fields:
        return np.zeros(len(rows), np.int64)
    is_met = np.ones(len(rows), np.bool_)
    for asked in term.match_expressions:
        codes, values = snapshot.label(asked.key)
        holds = [asked.holds({asked.key: value}) for value in values]
        is_met &= np.array([*holds, asked.holds({})], np.bool_)[codes[rows]]
    for asked in term.match_fields:
        is_met &= [asked.holds({"metadata.name": snapshot.names[row]}) for row in rows]
    return is_met.astype(np.int64)
