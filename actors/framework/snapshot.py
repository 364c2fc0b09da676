"""Snapshot: the cluster as one scheduling cycle sees it, by nodes (rows) and by columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import MEMORY, PODS, Namespaces, PodInfo
from actors.framework.pods_by_kind import PodsByKind
from testbed.objects import Node
from testbed.objects.quantity import CPU

Column = NDArray[np.int64]
"""An integer for each row of a Snapshot."""
Move = tuple[PodInfo, str, int]
"""A pod that has come to a node of that name (1) or left it (-1)."""
NOTED = ("with_terms", "anti_affine", "ports")
"""Attributes of a NodeInfo that are zero or empty on most nodes: it pays to list the others."""


class Columns(dict[str, Column]):
    """A Column for each resource; all zeros for a resource that no node has."""

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
        """Update a row to what the node is now."""
        amounts = self._amounts(node)
        for resource, amount in amounts.items():
            self[resource][row] = amount
        if len(amounts) < len(self):
            for resource, column in self.items():
                if resource not in amounts:
                    column[row] = 0

    def append(self, node: NodeInfo) -> None:
        """One more row, at the end."""
        for resource in self:
            self[resource] = np.append(self[resource], 0)
        self._size += 1
        self.put(self._size - 1, node)

    def drop_last(self) -> None:
        """One row less, at the end."""
        for resource in self:
            self[resource] = self[resource][:-1]
        self._size -= 1


class Kinds:
    """The nodes of a Snapshot by one property: a code for each row, and a value for each code.

    A filter then looks at each value once instead of at each node. Codes are never given back, so
    they stay valid while nodes change; a value that no node has any more costs no more than a place
    in the list.
    """

    def __init__(self, of: Callable[[Node], Hashable], nodes: Sequence[NodeInfo]) -> None:
        self._of = of
        self._code: dict[Hashable, int] = {}
        self.values: list[Any] = []
        """The value of each code; no node may have it any more."""
        self.samples: list[NodeInfo] = []
        """For each code, one node that had its value."""
        self.codes: Column = np.array([self._kind(node) for node in nodes], np.int64)
        """The code of each row; -1: the node has no such value."""

    def put(self, row: int, node: NodeInfo) -> None:
        """Update a row to what the node is now."""
        self.codes[row] = self._kind(node)

    def append(self, node: NodeInfo) -> None:
        """One more row, at the end."""
        self.codes = np.append(self.codes, self._kind(node))

    def drop_last(self) -> None:
        """One row less, at the end."""
        self.codes = self.codes[:-1]

    def code(self, value: Hashable) -> int | None:
        """The code of a value; None if no node has had it."""
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
    """The cluster as it was at the start of a cycle; it does not change during the cycle (SCH-42).

    A cache has one Snapshot and updates it at the start of each cycle, by what has changed. A
    column is computed when it is first read, and updated from then on.
    """

    # Why a row may be reused. The cache notes each node that it changes. A row whose node it has
    # not noted still equals the cache, so its copy stays, and so does its place in every Column
    # and every Kinds. `put` replaces a changed row everywhere. Rows keep their places as long as no
    # node comes, goes or changes its zone; after that `lay_out` gives new places, keeps the copies
    # that are still right, and drops all columns. The copies are the Snapshot's own: the cache goes
    # on changing its nodes while a cycle awaits, and invariants compare a decision with what it was
    # made by. Kubernetes finds changed nodes by generation numbers instead of by notes.

    def __init__(self) -> None:
        self.names: list[str] = []
        """The names of the nodes: one of each zone in turn, each zone in order of arrival."""
        self.infos: list[NodeInfo] = []
        """The nodes with their pods, in the same order; copies that belong to the Snapshot."""
        self.row: dict[str, int] = {}
        """The row of each node, by name."""
        self.namespaces: Namespaces = {}
        """The labels of namespaces, for terms with a namespace selector."""
        self._columns: dict[str, Columns] = {}
        self._kinds: dict[Hashable, Kinds] = {}
        self._rows: dict[str, dict[int, None]] = {name: {} for name in NOTED}
        self._pods_by_kind: PodsByKind | None = None

    def __len__(self) -> int:
        return len(self.names)

    def get(self, name: str) -> NodeInfo | None:
        """The node of that name, or None."""
        row = self.row.get(name)
        return None if row is None else self.infos[row]

    @property
    def allocatable(self) -> Columns:
        """What each node has for pods, by resource."""
        return self._columns_of("allocatable")

    @property
    def requested(self) -> Columns:
        """The sum of what its pods request, by resource; of `pods`, their number."""
        return self._columns_of("requested")

    @property
    def left(self) -> Columns:
        """`allocatable` less `requested`."""
        return self._columns_of("left")

    @property
    def scored(self) -> Columns:
        """The sums of cpu and memory for scoring (SCH-40)."""
        return self._columns_of("scored")

    def label(self, key: str) -> tuple[Column, Sequence[str]]:
        """Which of the values of a label each row has, -1: none; and the values."""
        kinds = self._label(key)
        return kinds.codes, kinds.values

    def with_label(self, key: str, values: Iterable[str]) -> NDArray[np.bool_]:
        """True for each row whose label has one of these values."""
        # Rows without the label have the code -1, which numpy reads as the last place: so there is
        # one place more than values, and it stays False.
        kinds = self._label(key)
        has = np.zeros(len(kinds.values) + 1, np.bool_)
        has[[code for value in values if (code := kinds.code(value)) is not None]] = True
        return has[kinds.codes]

    def kinds(self, name: Hashable, of: Callable[[Node], Hashable]) -> tuple[Column, Sequence[Any]]:
        """Group the rows by `of(node)`: a code for each row (-1: None), and the value of each code.

        Cached by `name`, so a name must always stand for the same `of`.
        """
        kinds = self.kinds_of(name, of)
        return kinds.codes, kinds.values

    def kinds_of(self, name: Hashable, of: Callable[[Node], Hashable]) -> Kinds:
        """The same as a Kinds, which has a sample of each value."""
        known = self._kinds.get(name)
        if known is None:
            known = self._kinds[name] = Kinds(of, self.infos)
        return known

    @property
    def with_terms(self) -> Collection[int]:
        """The rows with pods that have terms of affinity or anti-affinity."""
        return self._rows["with_terms"].keys()

    @property
    def anti_affine(self) -> Collection[int]:
        """The rows with pods that have required anti-affinity."""
        return self._rows["anti_affine"].keys()

    @property
    def with_ports(self) -> Collection[int]:
        """The rows with pods that use host ports."""
        return self._rows["ports"].keys()

    @property
    def pods_by_kind(self) -> PodsByKind:
        """On which nodes the pods of each kind are."""
        if self._pods_by_kind is None:
            self._pods_by_kind = PodsByKind(self.infos)
        return self._pods_by_kind

    def lay_out(self, infos: Iterable[NodeInfo]) -> None:
        """Called by the cache: these are the nodes from now on, in this order."""
        self.infos = list(infos)
        self.names = [node.name for node in self.infos]
        self.row = {name: row for row, name in enumerate(self.names)}
        self._columns, self._kinds, self._pods_by_kind = {}, {}, None
        self._rows = {name: {} for name in NOTED}
        for row, node in enumerate(self.infos):
            self._note(row, node)

    def put(self, node: NodeInfo) -> None:
        """Called by the cache: this node has changed, and is like this from now on."""
        row = self.row[node.name]
        old, self.infos[row] = self.infos[row], node
        for columns in self._columns.values():
            columns.put(row, node)
        if node.node is not old.node:
            for kinds in self._kinds.values():
                kinds.put(row, node)
        self._note(row, node)

    def append(self, node: NodeInfo) -> None:
        """One more node, behind all others. A simulation adds nodes that do not exist yet."""
        row = self.row[node.name] = len(self.infos)
        self.infos.append(node)
        self.names.append(node.name)
        for columns in self._columns.values():
            columns.append(node)
        for kinds in self._kinds.values():
            kinds.append(node)
        self._note(row, node)
        self.move([(info, node.name, 1) for info in node.pods])

    def drop_last(self) -> None:
        """One node less: the last one."""
        node = self.infos[-1]
        self.move([(info, node.name, -1) for info in node.pods])
        row = self.row.pop(node.name)
        del self.infos[-1], self.names[-1]
        for columns in self._columns.values():
            columns.drop_last()
        for kinds in self._kinds.values():
            kinds.drop_last()
        for rows in self._rows.values():
            rows.pop(row, None)

    def move(self, moves: Iterable[Move]) -> None:
        """Called by the cache: these pods have come or gone, on nodes that were `put`."""
        if self._pods_by_kind is not None:
            for info, node, by in moves:
                if node in self.row:
                    self._pods_by_kind.move(info, node, by)

    def _label(self, key: str) -> Kinds:
        return self.kinds_of(("label", key), lambda node: node.meta.labels.get(key))

    def _columns_of(self, name: str) -> Columns:
        columns = self._columns.get(name)
        if columns is None:
            columns = self._columns[name] = Columns(AMOUNTS[name], self.infos)
        return columns

    def _note(self, row: int, node: NodeInfo) -> None:
        for name, rows in self._rows.items():
            if getattr(node, name):
                rows[row] = None
            elif rows:
                rows.pop(row, None)


AMOUNTS: dict[str, Callable[[NodeInfo], Mapping[str, int]]] = {
    "allocatable": lambda node: node.allocatable,
    "requested": lambda node: {**node.requested, PODS: len(node.pods)},
    "left": lambda node: {
        name: node.left(name) for name in {**node.allocatable, **node.requested, PODS: 0}
    },
    "scored": lambda node: {CPU: node.scored_cpu, MEMORY: node.scored_memory},
}
