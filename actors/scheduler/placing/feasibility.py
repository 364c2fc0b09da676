"""Feasibility: which nodes are feasible for a pod, and why each other node is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from actors.framework.filter import Filter
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.scheduler.placing.judging import FEW, Judging, Nominated
from actors.scheduler.placing.verdicts import Answers, Verdicts

ENOUGH = 100
"""The least number of feasible nodes to look for; of fewer nodes, all are filtered (SCH-55)."""


class Feasibility:
    """The result of filtering in one cycle: the feasible nodes, and the Refusal of each other one.

    Its `judging` says what the filters say of one node; it decides which nodes are looked at, and
    keeps what they say. 1. If one filter refuses the pod everywhere, no node is looked at. 2. If
    the pod fits on the node it is nominated to, `own`, that is the only feasible node (SCH-54).
    3. Otherwise nodes are filtered from the row `start` on, until enough are feasible (SCH-55).
    """

    def __init__(
        self,
        pod: PodInfo,
        snapshot: Snapshot,
        filters: Sequence[Filter],
        nominated: Nominated,
        *,
        own: str = "",
        start: int = 0,
    ) -> None:
        self.pod = pod
        self.snapshot = snapshot
        self.judging = judging = Judging(pod, snapshot, filters, nominated)
        """The filters, prepared for this pod."""
        self.rows: Sequence[int] = ()
        """The rows of the feasible nodes, in the order in which they were found."""
        self.refusals: Mapping[str, Refusal] = {}
        """Why each other node that was looked at is not feasible."""
        self.error = ""
        """What went wrong; if it is not empty, nothing else here counts."""
        self.next_start = start
        """The row from which the next cycle starts."""
        if judging.refusal is not None:
            self.refusals = dict.fromkeys(snapshot.names, judging.refusal)
        elif not self._fits_where_nominated(own):
            self._filter(start)

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """The names of the feasible nodes."""
        names = self.snapshot.names
        return tuple([names[row] for row in self.rows])

    @property
    def said(self) -> str:
        """The reasons of a filter that refused all nodes at once; empty if each was looked at."""
        refusal = self.judging.refusal
        return "" if refusal is None else ", ".join(refusal.reasons)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the filters that refused some node."""
        return tuple(sorted({refusal.filter for refusal, _ in self._tallied}))

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many nodes give each reason."""
        counts: dict[str, int] = {}
        for refusal, nodes in self._tallied:
            for reason in refusal.reasons:
                counts[reason] = counts.get(reason, 0) + nodes
        return counts

    @property
    def potential(self) -> list[int]:
        """The rows where preemption may help: all but those with an unresolvable Refusal. Nodes
        that were not looked at are among them (SCH-76)."""
        refusals = self.refusals
        if isinstance(refusals, Verdicts):
            return refusals.resolvable_rows()
        hopeless = {name for name, refusal in refusals.items() if not refusal.is_resolvable}
        return [row for row, name in enumerate(self.snapshot.names) if name not in hopeless]

    @cached_property
    def _tallied(self) -> list[tuple[Refusal, int]]:
        if isinstance(self.refusals, Verdicts):
            return self.refusals.tallied
        return [(refusal, 1) for refusal in self.refusals.values()]

    def _fits_where_nominated(self, own: str) -> bool:
        """Whether the node it is nominated to is feasible; then no other node is looked at."""
        row = self.snapshot.row.get(own)
        if row is None:
            return False
        refusal = self.judging.verdict(self.judging.states, self.snapshot.infos[row])
        if refusal is None:
            self.rows = [row]
        else:
            self.refusals = {own: refusal}
        return refusal is None

    def _filter(self, start: int) -> None:
        rows = self._rows_named()
        if self.error:
            return
        size = len(self.snapshot.names)
        if rows is None and size > FEW:
            self._filter_columns(start)
        else:
            self._filter_one_by_one(range(size) if rows is None else rows, start)

    def _filter_one_by_one(self, rows: Sequence[int], start: int) -> None:
        names, infos, refusals, fitting = (
            self.snapshot.names, self.snapshot.infos, dict(self.refusals), []
        )  # fmt: skip
        verdict, states, size = self.judging.verdict, self.judging.states, len(rows)
        wanted = enough_of(size)
        for n in range(size):
            row = rows[(start + n) % size]
            refusal = verdict(states, infos[row])
            if refusal is not None:
                refusals[names[row]] = refusal
                continue
            fitting.append(row)
            if len(fitting) == wanted:
                break
        self.rows, self.refusals = fitting, refusals
        self._set_next_start(start, size)

    def _filter_columns(self, start: int) -> None:
        """The same for all rows, with numpy: its result equals that of `_filter_one_by_one`."""
        # Every row is filtered, which costs less than to stop early in a loop. Then what the loop
        # would not have reached is dropped: `looked_at` holds the rows up to the last feasible node
        # that was wanted, counted round from `start`. Only these have a Refusal, as in Kubernetes,
        # where the others count as nodes on which preemption may help.
        answers, size = self._answers(), len(self.snapshot)
        rows = np.flatnonzero(answers.codes == 0)
        first = int(np.searchsorted(rows, start))
        fitting = [*rows[first:].tolist(), *rows[:first].tolist()]
        wanted, looked_at = enough_of(size), np.ones(size, np.bool_)
        if len(fitting) >= wanted:
            del fitting[wanted:]
            distance = (np.arange(size) - start) % size
            looked_at = distance <= distance[fitting[-1]]
            looked_at[[self.snapshot.row[name] for name in self.refusals]] = True
        self.rows, self.refusals = fitting, Verdicts(self.snapshot, answers, looked_at)
        self._set_next_start(start, size)

    def _answers(self) -> Answers:
        """What the filters say of each row, with nominated pods and without (SCH-59)."""
        # A few nodes have nominated pods. If these pods matter only for what they take (`crowds`),
        # `check_crowded` compares columns again for those rows alone. If one matters for more, such
        # as affinity, its node is filtered by itself, with states of its own (`by_itself`).
        judging, snapshot, crowds, by_itself = self.judging, self.snapshot, {}, []
        for name in judging.nominated:
            pods = judging.nominated_on(name) if name in snapshot.row else []
            if name in judging.minded_on and any(map(judging.is_minded, pods)):
                by_itself.append(name)
            elif pods:
                crowds[snapshot.row[name]] = pods
        answers, crowded = Answers(len(snapshot)), Answers(len(crowds))
        for each, state in judging.states:
            refused = each.check_all(state, snapshot)
            if refused is not None:
                answers.refuse(refused)
            if crowds:
                refused = each.check_crowded(state, snapshot, refused, crowds)
                if refused is not None:
                    crowded.refuse(refused)
        answers.put_all(np.array([*crowds], np.int64), crowded)
        for name in by_itself:
            refusal = judging.verdict(judging.states, judging.node(name))
            if refusal is not None:
                answers.put(snapshot.row[name], refusal)
        return answers

    def _set_next_start(self, start: int, size: int) -> None:
        """Let the next cycle start behind the last node that this one has looked at."""
        if size:
            self.next_start = (start + len(self.rows) + len(self.refusals)) % size

    def _rows_named(self) -> Sequence[int] | None:
        """The rows that filters restrict the pod to; None if no filter names nodes (SCH-53)."""
        named = []
        for each, state in self.judging.states:
            only = each.only(state)
            if only is not None:
                named.append(only)
        if not named:
            return None
        names, row = sorted(named[0].intersection(*named)), self.snapshot.row
        unknown = [name for name in names if name not in row]
        if unknown:
            self.error = f'nodeinfo not found for node name "{unknown[0]}"'
            return ()
        return sorted(row[name] for name in names)


def enough_of(nodes: int) -> int:
    """How many feasible nodes are enough among this many (SCH-55)."""
    # `numFeasibleNodesToFind` in Kubernetes: from 100 nodes on it looks for a share of them only,
    # which falls from 50 % to 5 % as clusters grow. With `next_start`, which goes on from cycle to
    # cycle, all nodes have their turn.
    if nodes < ENOUGH:
        return nodes
    percent = max(50 - nodes // 125, 5)
    return max(nodes * percent // 100, ENOUGH)
