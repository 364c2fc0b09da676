"""Verdicts: why nodes are not feasible, kept as one number for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from actors.framework.filter import NodeRefusals
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Column, Snapshot


class Answers:
    """What the filters say of the same rows; the first filter that refuses a row counts."""

    def __init__(self, rows: int) -> None:
        self.codes: Column = np.zeros(rows, np.int64)
        """For each row, the place of its Refusal in `refusals`, from 1; 0: it is feasible."""
        self.refusals: list[Refusal] = []
        """Every Refusal that some row has."""

    def refuse(self, refused: NodeRefusals) -> None:
        """Take in what the next filter says. It counts only for rows that none has refused yet."""
        # Nodes that lack the same have the same code. So a Refusal, with its texts, is made once
        # for each code and not for each node, and only of codes that some row still has.
        codes = np.where(self.codes, 0, refused.codes)
        table = np.zeros(codes.max(initial=0) + 1, np.int64)
        for code in np.flatnonzero(np.bincount(codes)).tolist():
            if code:
                self.refusals.append(refused.refusal(code))
                table[code] = len(self.refusals)
        self.codes += table[codes]

    def put(self, row: int, refusal: Refusal) -> None:
        """Set the Refusal of one row, whatever was said of it before."""
        self.refusals.append(refusal)
        self.codes[row] = len(self.refusals)

    def put_all(self, rows: Column, others: Answers) -> None:
        """Set what `others` refuse, the n-th of them for the n-th of these rows."""
        no = others.codes > 0
        self.codes[rows[no]] = others.codes[no] + len(self.refusals)
        self.refusals += others.refusals


class Verdicts(Mapping[str, Refusal]):
    """The Refusal of each node that was looked at and is not feasible, by the node's name.

    It keeps a number for each row. Nodes with equal Refusals share one object.
    """

    def __init__(self, snapshot: Snapshot, answers: Answers, looked_at: NDArray[np.bool_]) -> None:
        self._names, self._row = snapshot.names, snapshot.row
        self._codes, self._refusals = np.where(looked_at, answers.codes, 0), answers.refusals

    @property
    def tallied(self) -> list[tuple[Refusal, int]]:
        """Each Refusal, with the number of nodes that have it."""
        counts = np.bincount(self._codes, minlength=len(self._refusals) + 1)[1:].tolist()
        return [(refusal, n) for refusal, n in zip(self._refusals, counts, strict=True) if n]

    def resolvable_rows(self) -> list[int]:
        """The rows that have no Refusal, or one that preemption may resolve."""
        may = np.array([True, *(refusal.is_resolvable for refusal in self._refusals)], np.bool_)
        found: list[int] = np.flatnonzero(may[self._codes]).tolist()
        return found

    def __getitem__(self, node: str) -> Refusal:
        code = int(self._codes[self._row[node]])
        if not code:
            raise KeyError(node)
        return self._refusals[code - 1]

    def __iter__(self) -> Iterator[str]:
        return (self._names[row] for row in np.flatnonzero(self._codes).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._codes))
