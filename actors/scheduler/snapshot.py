"""Snapshot: the cluster as one cycle sees it, node by node and in columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import MEMORY, PODS, Namespaces
from testbed.objects import Node
from testbed.objects.quantity import CPU

Column = NDArray[np.int64]
"""One whole number for each row of a Snapshot."""
Kinds = tuple[Column, Sequence[Any]]
"""Of each row, which of these it is; -1: it is none."""


class Columns(dict[str, Column]):
    """A Column for each resource; of one that no node knows, of noughts."""

    def __init__(self, infos: Sequence[NodeInfo], amounts: Callable[[NodeInfo], Any]) -> None:
        super().__init__()
        self._size = len(infos)
        self._amounts = amounts
        for row, node in enumerate(infos):
            self.put(row, node)

    def __missing__(self, resource: str) -> Column:
        column = self[resource] = np.zeros(self._size, np.int64)
        return column

    def put(self, row: int, node: NodeInfo) -> None:
        """That row is as that node has it now."""
        amounts = self._amounts(node)
        for resource, amount in amounts.items():
            self[resource][row] = amount
        if len(amounts) < len(self):
            for resource, column in self.items():
                if resource not in amounts:
                    column[row] = 0


class Snapshot:
    """All that one cycle reads; from one cycle to the next, it does not move (SCH-42).

    There is one of a cache, brought up to date at the start of each cycle: only what has changed
    is copied. What stands in columns is worked out when somebody first asks, and kept up to date
    from then on.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        """The nodes: one of each zone in turn, those that came first first."""
        self.infos: list[NodeInfo] = []
        """They and their pods, in the same order: copies that are the Snapshot's own."""
        self.row: dict[str, int] = {}
        """At which place each of them stands."""
        self.namespaces: Namespaces = {}
        """The labels of namespaces, for terms that select them."""
        self._sums: dict[str, Columns] = {}
        self._kinds: dict[Hashable, _Kinds] = {}
        self._with_terms: set[int] = set()
        self._anti_affine: set[int] = set()

    def __len__(self) -> int:
        return len(self.names)

    def get(self, name: str) -> NodeInfo | None:
        """The node of that name; None if there is none."""
        row = self.row.get(name)
        return None if row is None else self.infos[row]

    @property
    def allocatable(self) -> Columns:
        """What each node has for pods, by resource."""
        return self._columns("allocatable", lambda node: node.allocatable)

    @property
    def requested(self) -> Columns:
        """What its pods ask for together, by resource; of `pods`, how many there are."""
        return self._columns("requested", lambda node: {**node.requested, PODS: len(node.pods)})

    @property
    def scored(self) -> Columns:
        """What its pods ask for of cpu and memory, with a least for each container."""
        return self._columns(
            "scored", lambda node: {CPU: node.scored_cpu, MEMORY: node.scored_memory}
        )

    def label(self, key: str) -> Kinds:
        """Which value each node has of that label."""
        return self.kinds(("label", key), lambda node: node.meta.labels.get(key))

    def kinds(self, name: Hashable, of: Callable[[Node], Hashable]) -> Kinds:
        """Which of few kinds each node is; `of` looks at nothing else, and says None if at none.

        The name must always stand for the same `of`.
        """
        known = self._kinds.get(name)
        if known is None:
            known = self._kinds[name] = _Kinds(of, self.infos)
        return known.codes, known.values

    @property
    def with_terms(self) -> Sequence[int]:
        """The rows with pods that mind which pods are near them."""
        return sorted(self._with_terms)

    @property
    def anti_affine(self) -> Sequence[int]:
        """The rows with pods that must not be near some pods."""
        return sorted(self._anti_affine)

    def lay_out(self, infos: Iterable[NodeInfo]) -> None:
        """These are the nodes from now on, in this order; for the cache."""
        self.infos = list(infos)
        self.names = [node.name for node in self.infos]
        self.row = {name: row for row, name in enumerate(self.names)}
        self._sums, self._kinds = {}, {}
        self._with_terms = {row for row, node in enumerate(self.infos) if node.with_terms}
        self._anti_affine = {row for row, node in enumerate(self.infos) if node.anti_affine}

    def put(self, node: NodeInfo) -> None:
        """That node has changed to this; for the cache."""
        row = self.row[node.name]
        old, self.infos[row] = self.infos[row], node
        for columns in self._sums.values():
            columns.put(row, node)
        if node.node is not old.node:
            for kinds in self._kinds.values():
                kinds.put(row, node)
        for rows, has in (
            (self._with_terms, node.with_terms),
            (self._anti_affine, node.anti_affine),
        ):
            (rows.add if has else rows.discard)(row)

    def _columns(self, name: str, amounts: Callable[[NodeInfo], Any]) -> Columns:
        columns = self._sums.get(name)
        if columns is None:
            columns = self._sums[name] = Columns(self.infos, amounts)
        return columns


class _Kinds:
    """Nodes told apart by one thing."""

    def __init__(self, of: Callable[[Node], Hashable], infos: Sequence[NodeInfo]) -> None:
        self._of = of
        self._code: dict[Hashable, int] = {}
        self.values: list[Any] = []
        self.codes = np.array([self._kind(node) for node in infos], np.int64)

    def put(self, row: int, node: NodeInfo) -> None:
        self.codes[row] = self._kind(node)

    def _kind(self, node: NodeInfo) -> int:
        value = self._of(node.node) if node.node is not None else None
        if value is None:
            return -1
        code = self._code.get(value)
        if code is None:
            code = self._code[value] = len(self.values)
            self.values.append(value)
        return code
