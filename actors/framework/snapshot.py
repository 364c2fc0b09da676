"""Snapshot: the cluster as one cycle sees it, node by node and in columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import MEMORY, PODS, Namespaces, PodInfo
from actors.framework.topology_counts import Standing
from testbed.objects import Node
from testbed.objects.quantity import CPU

Column = NDArray[np.int64]
"""One whole number for each row of a Snapshot."""
Move = tuple[PodInfo, str, int]
"""So many more of a pod on a node of that name: 1, or -1."""


NOTED = ("with_terms", "anti_affine", "ports")
"""What few nodes have, so that it is worth while to know which."""


class Columns(dict[str, Column]):
    """A Column for each resource; of one that no node knows, of noughts."""

    def __init__(
        self, amounts: Callable[[NodeInfo], Mapping[str, int]], nodes: Sequence[NodeInfo]
    ) -> None:
        super().__init__()
        self._amounts = amounts
        self._size = len(nodes)
        for row, node in enumerate(nodes):
            self.put(row, node)

    def __missing__(self, resource: str) -> Column:
        column = self[resource] = np.zeros(self._size, np.int64)
        return column

    def put(self, row: int, node: NodeInfo) -> None:
        """That row is as that node is now."""
        amounts = self._amounts(node)
        for resource, amount in amounts.items():
            self[resource][row] = amount
        if len(amounts) < len(self):
            for resource, column in self.items():
                if resource not in amounts:
                    column[row] = 0


class Kinds:
    """The nodes told apart by one thing."""

    def __init__(self, of: Callable[[Node], Hashable], nodes: Sequence[NodeInfo]) -> None:
        self._of = of
        self._code: dict[Hashable, int] = {}
        self.values: list[Any] = []
        """All that it can be; some of these may be of the past."""
        self.samples: list[NodeInfo] = []
        """A node of each kind."""
        self.codes: Column = np.array([self._kind(node) for node in nodes], np.int64)
        """Of each row, which of these it is; -1: it is none."""

    def put(self, row: int, node: NodeInfo) -> None:
        """That row is as that node is now."""
        self.codes[row] = self._kind(node)

    def code(self, value: Hashable) -> int | None:
        """Which of these that value is; None: no node has had it."""
        return self._code.get(value)

    def _kind(self, node: NodeInfo) -> int:
        value = self._of(node.node) if node.node is not None else None
        if value is None:
            return -1
        code = self._code.get(value)
        if code is None:
            code = self._code[value] = len(self.values)
            self.values.append(value)
            self.samples.append(node)
        return code


class Snapshot:
    """All that one cycle reads; from one cycle to the next, it does not move (SCH-42).

    There is one of a cache, brought up to date at the start of each cycle: only what has changed
    is copied. What stands in columns is worked out when somebody first asks for it, and kept up
    to date from then on.
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
        self._columns: dict[str, Columns] = {}
        self._kinds: dict[Hashable, Kinds] = {}
        self._rows: dict[str, dict[int, None]] = {name: {} for name in NOTED}
        self._standing: Standing | None = None

    def __len__(self) -> int:
        return len(self.names)

    def get(self, name: str) -> NodeInfo | None:
        """The node of that name; None if there is none."""
        row = self.row.get(name)
        return None if row is None else self.infos[row]

    @property
    def allocatable(self) -> Columns:
        """What each node has for pods, by resource."""
        return self._columns_of("allocatable")

    @property
    def requested(self) -> Columns:
        """What its pods ask for together, by resource; of `pods`, how many there are."""
        return self._columns_of("requested")

    @property
    def left(self) -> Columns:
        """The difference of the two."""
        return self._columns_of("left")

    @property
    def scored(self) -> Columns:
        """What its pods ask for of cpu and memory, with a least for each container."""
        return self._columns_of("scored")

    def label(self, key: str) -> tuple[Column, Sequence[str]]:
        """Which value each node has of that label; -1: none."""
        kinds = self._label(key)
        return kinds.codes, kinds.values

    def with_label(self, key: str, values: Iterable[str]) -> NDArray[np.bool_]:
        """Whether each node has one of these values of that label."""
        kinds = self._label(key)
        has = np.zeros(len(kinds.values) + 1, np.bool_)
        has[[code for value in values if (code := kinds.code(value)) is not None]] = True
        return has[kinds.codes]

    def kinds(self, name: Hashable, of: Callable[[Node], Hashable]) -> tuple[Column, Sequence[Any]]:
        """Which of few kinds each node is; `of` looks at nothing else, and says None if at none.

        The name must always stand for the same `of`.
        """
        kinds = self.told_apart(name, of)
        return kinds.codes, kinds.values

    def told_apart(self, name: Hashable, of: Callable[[Node], Hashable]) -> Kinds:
        """The same, with a node of each kind."""
        known = self._kinds.get(name)
        if known is None:
            known = self._kinds[name] = Kinds(of, self.infos)
        return known

    @property
    def with_terms(self) -> Collection[int]:
        """The rows with pods that mind which pods are near them."""
        return self._rows["with_terms"].keys()

    @property
    def anti_affine(self) -> Collection[int]:
        """The rows with pods that must not be near some pods."""
        return self._rows["anti_affine"].keys()

    @property
    def with_ports(self) -> Collection[int]:
        """The rows with pods that have taken ports of their node."""
        return self._rows["ports"].keys()

    @property
    def standing(self) -> Standing:
        """Where the pods stand, by kind."""
        if self._standing is None:
            self._standing = Standing(self.infos)
        return self._standing

    def lay_out(self, infos: Iterable[NodeInfo]) -> None:
        """These are the nodes from now on, in this order; for the cache."""
        self.infos = list(infos)
        self.names = [node.name for node in self.infos]
        self.row = {name: row for row, name in enumerate(self.names)}
        self._columns, self._kinds, self._standing = {}, {}, None
        self._rows = {name: {} for name in NOTED}
        for row, node in enumerate(self.infos):
            self._note(row, node)

    def put(self, node: NodeInfo) -> None:
        """That node is like this from now on; for the cache."""
        row = self.row[node.name]
        old, self.infos[row] = self.infos[row], node
        for columns in self._columns.values():
            columns.put(row, node)
        if node.node is not old.node:
            for kinds in self._kinds.values():
                kinds.put(row, node)
        self._note(row, node)

    def move(self, moves: Iterable[Move]) -> None:
        """Pods have come and gone, on nodes that were `put`; for the cache."""
        if self._standing is not None:
            for info, node, by in moves:
                if node in self.row:
                    self._standing.move(info, node, by)

    def _label(self, key: str) -> Kinds:
        return self.told_apart(("label", key), lambda node: node.meta.labels.get(key))

    def _columns_of(self, name: str) -> Columns:
        columns = self._columns.get(name)
        if columns is None:
            columns = self._columns[name] = Columns(AMOUNTS[name], self.infos)
        return columns

    def _note(self, row: int, node: NodeInfo) -> None:
        for name, rows in self._rows.items():
            if getattr(node, name):
                rows[row] = None
            else:
                rows.pop(row, None)


AMOUNTS: dict[str, Callable[[NodeInfo], Mapping[str, int]]] = {
    "allocatable": lambda node: node.allocatable,
    "requested": lambda node: {**node.requested, PODS: len(node.pods)},
    "left": lambda node: {
        name: node.left(name) for name in {**node.allocatable, **node.requested, PODS: 0}
    },
    "scored": lambda node: {CPU: node.scored_cpu, MEMORY: node.scored_memory},
}
