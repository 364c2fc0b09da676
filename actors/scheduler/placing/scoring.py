"""Scoring: which of the feasible nodes is the best for a pod (SCH-61, SCH-62)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score


class Scored(Mapping[str, Mapping[str, int]]):
    """The points of each node by score, times its weight. A node's mapping is made when read."""

    def __init__(
        self, snapshot: Snapshot, nodes: Sequence[int], columns: Mapping[str, Column]
    ) -> None:
        self._names = list(map(snapshot.names.__getitem__, nodes))
        self.columns = columns
        """The points of all nodes, by score."""
        self.total: Column = sum(columns.values(), np.zeros(len(nodes), np.int64))
        """The sum over all scores, node by node."""

    def __getitem__(self, node: str) -> Mapping[str, int]:
        # Mostly one node is read, the chosen one. So this looks for its place instead of keeping an
        # index of all nodes, which would cost more in every cycle.
        if node not in self._names:
            raise KeyError(node)
        place = self._names.index(node)
        return {name: int(column[place]) for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def best(self) -> tuple[str, ...]:
        """The nodes with the highest total, by name."""
        places = np.flatnonzero(self.total == self.total.max()).tolist()
        return tuple(sorted(self._names[place] for place in places))


def _check(score: Score, column: Column) -> None:
    """ValueError if a user's score is out of range: it could outweigh all others."""
    weight: object = score.weight
    if not isinstance(weight, int) or weight < 1:
        raise ValueError(f"{score.name}.weight is {weight}: expected a whole number from 1")
    if len(column) and not (column.min() >= 0 and column.max() <= BEST):
        wrong = column[(column < 0) | (column > BEST)]
        raise ValueError(f"{score.name} gives a node {wrong[0]}: expected 0 to {BEST}")


def scores_of(
    pod: PodInfo, snapshot: Snapshot, nodes: Sequence[int], scores: Sequence[Score]
) -> Scored:
    """Score the nodes in these rows for that pod."""
    rows: Column = np.array(nodes, np.int64)
    columns: dict[str, Column] = {}
    for score in scores:
        state = score.prepare(pod, snapshot, rows)
        if state is not None:
            column = score.normalise(state, score.score_all(state, snapshot, rows))
            _check(score, column)
            columns[score.name] = column * score.weight
    return Scored(snapshot, nodes, columns)
