"""Fitting: whether a pod fits on nodes of a Snapshot, by the filters of the default scheduler.

It is for programs that look where a pod would go, but do not schedule it. Preemption is not
simulated, and neither is a filter that only a scheduler of the user's has.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from actors.framework.filter import Filter, State
from actors.framework.filters import FILTERS
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot

FEW = 24
"""Up to this many nodes, asking node by node is quicker than asking for whole columns."""


class Fitting:
    """The filters, prepared for one pod and a Snapshot as it is now."""

    def __init__(
        self, pod: PodInfo, snapshot: Snapshot, filters: Sequence[Filter] = FILTERS
    ) -> None:
        self._snapshot = snapshot
        self._states: list[tuple[Filter, State]] = []
        self.refusal: Refusal | None = None
        """The refusal of a filter that refuses the pod everywhere."""
        self._only: frozenset[str] | None = None
        for each in filters:
            state = each.prepare(pod, self._snapshot)
            if isinstance(state, Refusal):
                self.refusal = state
                return
            if state is not None:
                self._states.append((each, state))
                only = each.only(state)
                if only is not None:
                    self._only = only if self._only is None else self._only & only

    @property
    def stays(self) -> bool:
        """Whether it holds for every pod of the same labels and spec, and goes on to do so while
        pods come: each filter then only looks at the node that it is asked about."""
        snapshot = self._snapshot
        return not any(each.minds_any(state, snapshot) for each, state in self._states)

    def on(self, node: NodeInfo) -> Refusal | None:
        """The refusal of the first filter that refuses a node; None: the pod fits there."""
        if self.refusal is not None:
            return self.refusal
        for each, state in self._states:
            refusal = each.check(state, node)
            if refusal is not None:
                return refusal
        return None

    def first(self, rows: Sequence[int], start: int) -> int | None:
        """The first of these rows, which ascend, on which it fits, counted from `start` on and
        round to the beginning; cordoned nodes are passed over, even by a pod that tolerates it."""
        if self.refusal is not None or not rows:
            return None
        infos = self._snapshot.infos
        if self._only is not None:
            rows = [row for row in rows if infos[row].name in self._only]
        begin = bisect_left(rows, start)
        free = self._free() if len(rows) > FEW else None
        if free is not None and not free.any():
            return None
        for row in (*rows[begin:], *rows[:begin]):
            info = infos[row]
            fits = self.on(info) is None if free is None else free[row]
            if fits and not _is_cordoned(info):
                return row
        return None

    def next_row(self, rows: list[int], start: int) -> int | None:
        """The same, row by row, of rows in order; those that refuse it are taken out of the list.
        So a caller that only ever adds pods asks each row about alike pods until it refuses one."""
        infos, only = self._snapshot.infos, self._only
        place = bisect_left(rows, start)
        while rows:
            if place == len(rows):
                place = 0
            info = infos[rows[place]]
            is_out = only is not None and info.name not in only
            if not is_out and not _is_cordoned(info) and self.on(info) is None:
                return rows[place]
            del rows[place]
        return None

    def _free(self) -> NDArray[np.bool_]:
        """For each row of the Snapshot, whether no filter refuses it."""
        free = np.ones(len(self._snapshot), np.bool_)
        for each, state in self._states:
            refused = each.check_all(state, self._snapshot)
            if refused is not None:
                free &= refused.codes == 0
        return free


def _is_cordoned(info: NodeInfo) -> bool:
    return info.node is not None and info.node.spec.unschedulable
