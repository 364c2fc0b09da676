"""Feasibility: which nodes will do for a pod, and why each other one will not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from actors.framework.filter import Filter
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.scheduler.placing.judging import Judging, Nominated
from actors.scheduler.placing.verdicts import Answers, Verdicts

ENOUGH = 100
"""So many nodes that fit are looked for at least; of fewer nodes, all are looked at (SCH-55)."""
FEW = 32
"""Up to so many nodes, to ask of one after the other is quicker than of all at once."""


class Feasibility(Judging):
    """Which nodes will do for a pod, and why each other one will not.

    The pod's own nomination comes first, if it is `own` (SCH-54). Where there are many nodes, it
    looks from the row `start` on, until it has found enough.
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
        super().__init__(pod, snapshot, filters, nominated)
        self.rows: Sequence[int] = ()
        """The nodes that will do, in the order in which they were found."""
        self.refusals: Mapping[str, Refusal] = {}
        """Why each other node that was looked at will not."""
        self.error = ""
        """What went wrong, if something did; then there is no more to tell."""
        self.next_start = start
        """From where the next cycle looks."""
        if self.refusal is not None:
            self.refusals = dict.fromkeys(snapshot.names, self.refusal)
        elif not self._is_at_home(own):
            self._look(start)

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """The names of the nodes that will do."""
        names = self.snapshot.names
        return tuple([names[row] for row in self.rows])

    @property
    def said(self) -> str:
        """What one filter says of all nodes together; empty if each has its own say."""
        return "" if self.refusal is None else ", ".join(self.refusal.reasons)

    @property
    def failed(self) -> tuple[str, ...]:
        """The filters that refused some node, by name."""
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
        """The rows of the nodes where it could help that other pods go: all that were not refused
        for good, also those nobody looked at (SCH-76)."""
        refusals = self.refusals
        if isinstance(refusals, Verdicts):
            return refusals.not_for_good()
        hopeless = {name for name, refusal in refusals.items() if not refusal.is_resolvable}
        return [row for row, name in enumerate(self.snapshot.names) if name not in hopeless]

    @property
    def _tallied(self) -> list[tuple[Refusal, int]]:
        if isinstance(self.refusals, Verdicts):
            return self.refusals.tallied
        return [(refusal, 1) for refusal in self.refusals.values()]

    def _is_at_home(self, own: str) -> bool:
        """Whether the node it is nominated to will do; then no other is looked at."""
        row = self.snapshot.row.get(own)
        if row is None:
            return False
        refusal = self.verdict(self.states, self.snapshot.infos[row])
        if refusal is None:
            self.rows = [row]
        else:
            self.refusals = {own: refusal}
        return refusal is None

    def _look(self, start: int) -> None:
        rows = self._rows_named()
        if self.error:
            return
        if rows is None and len(self.snapshot) > FEW:
            self._look_at_all(start)
        else:
            self._look_at_each(range(len(self.snapshot)) if rows is None else rows, start)

    def _look_at_each(self, rows: Sequence[int], start: int) -> None:
        snapshot, refusals, fitting = self.snapshot, dict(self.refusals), []
        wanted = enough_of(len(rows))
        for n in range(len(rows)):
            row = rows[(start + n) % len(rows)]
            refusal = self.verdict(self.states, snapshot.infos[row])
            if refusal is not None:
                refusals[snapshot.names[row]] = refusal
                continue
            fitting.append(row)
            if len(fitting) == wanted:
                break
        self.rows, self.refusals = fitting, refusals
        self._turn(start, len(rows))

    def _look_at_all(self, start: int) -> None:
        """As `_look_at_each` of all rows."""
        answers, size = self._answers(), len(self.snapshot)
        rows = np.flatnonzero(answers.codes == 0)
        first = int(np.searchsorted(rows, start))
        fitting = [*rows[first:].tolist(), *rows[:first].tolist()]
        wanted, looked_at = enough_of(size), np.ones(size, np.bool_)
        if len(fitting) >= wanted:
            del fitting[wanted:]
            turns = (np.arange(size) - start) % size
            looked_at = turns <= turns[fitting[-1]]
            looked_at[[self.snapshot.row[name] for name in self.refusals]] = True
        self.rows, self.refusals = fitting, Verdicts(self.snapshot, answers, looked_at)
        self._turn(start, size)

    def _answers(self) -> Answers:
        """What the filters say of each row; where pods are nominated, first with those (SCH-59)."""
        snapshot, crowds, tried = self.snapshot, {}, []
        for name in self.nominated:
            pods = self.nominated_on(name) if name in snapshot.row else []
            if any(map(self.is_minded, pods)):
                tried.append(name)
            elif pods:
                crowds[snapshot.row[name]] = pods
        answers, crowded = Answers(len(snapshot)), Answers(len(crowds))
        for each, state in self.states:
            refused = each.check_all(state, snapshot)
            if refused is not None:
                answers.refuse(refused)
            if crowds:
                refused = each.check_crowded(state, snapshot, refused, crowds)
                if refused is not None:
                    crowded.refuse(refused)
        answers.put_all(np.array([*crowds], np.int64), crowded)
        for name in tried:
            refusal = self.verdict(self.states, self.node(name))
            if refusal is not None:
                answers.put(snapshot.row[name], refusal)
        return answers

    def _turn(self, start: int, size: int) -> None:
        """The next cycle looks from where this one has stopped."""
        if size:
            self.next_start = (start + len(self.rows) + len(self.refusals)) % size

    def _rows_named(self) -> Sequence[int] | None:
        """The rows that are worth while to look at, if filters name some (SCH-53)."""
        only = [f.only(s) for f, s in self.states]
        named = [names for names in only if names is not None]
        if not named:
            return None
        names, row = sorted(named[0].intersection(*named)), self.snapshot.row
        unknown = [name for name in names if name not in row]
        if unknown:
            self.error = f'nodeinfo not found for node name "{unknown[0]}"'
            return ()
        return sorted(row[name] for name in names)


def enough_of(nodes: int) -> int:
    """How many nodes that fit are enough, of so many (SCH-55)."""
    if nodes < ENOUGH:
        return nodes
    percent = max(50 - nodes // 125, 5)
    return max(nodes * percent // 100, ENOUGH)
