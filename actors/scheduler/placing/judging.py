"""Judging: what the filters say of one pod on one node, as the node is or as it would be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from actors.framework.filter import Filter, NodeFilter, State
from actors.framework.filters.resources import FOUR, Asked, NodeResourcesFitFilter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot

Nominated = Mapping[str, Sequence[PodInfo]]
"""The pods nominated to each node, in the order in which they were nominated."""
States = list[tuple[Filter, State]]
"""Filters, each with the State that its `prepare` gave."""
FEW = 32
"""Up to this many nodes, filtering node by node is quicker than filtering whole columns."""


class Judging:
    """The filters, prepared for one pod in one cycle (PreFilter in Kubernetes).

    Feasibility asks it of the nodes of the cluster, and preemption of nodes as they would be
    without some pods.
    """

    def __init__(
        self,
        pod: PodInfo,
        snapshot: Snapshot,
        filters: Sequence[Filter],
        nominated: Nominated,
    ) -> None:
        self.pod = pod
        self.snapshot = snapshot
        self.nominated = nominated
        self.states: States = []
        """Each filter that may refuse the pod somewhere, with its State."""
        self.refusal: Refusal | None = None
        """The Refusal of a filter that refuses all nodes at once; no other was asked then."""
        self._filters = filters
        self._minding: States = []
        """Those to which pods that come or go can matter for more than an Account counts."""
        self._prepare()

    def of(self, pod: PodInfo, nominated: Nominated) -> Judging:
        """The same filters on the same Snapshot, for another pod and with other nominations."""
        return Judging(pod, self.snapshot, self._filters, nominated)

    @cached_property
    def only_room(self) -> tuple[NodeResourcesFitFilter, Asked] | None:
        """The filter for resources and what it compares, if pods that come or go can matter to no
        other filter; else None.

        Then preemption need only add and subtract what pods ask for.
        """
        if self.refusal is not None:
            return None
        for each, state in self._minding:
            if each.minds_any(state, self.snapshot):
                return None
        if self.minded_on:
            return None
        for each, state in self.states:
            if isinstance(each, NodeResourcesFitFilter) and len(state.names) <= len(FOUR):
                return each, state
        return None

    @cached_property
    def barred(self) -> Collection[int]:
        """The rows that are refused by a filter that looks at the node alone, not at its pods."""
        rows: set[int] = set()
        for each, state in self.states:
            if isinstance(each, NodeFilter):
                rows.update(self._refused_by(each, state))
        return rows

    @cached_property
    def minded_on(self) -> Collection[str]:
        """The nodes with a nominated pod that matters to a filter for more than its requests."""
        found: dict[str, None] = {}
        for each, state in self._minding:
            minds = each.minds
            for name, pods in self.nominated.items():
                for info in pods:
                    if minds(state, info):
                        found[name] = None
        return found

    def node(self, name: str) -> NodeInfo:
        """The node of that name in the Snapshot; KeyError if there is none."""
        return self.snapshot.infos[self.snapshot.row[name]]

    def is_minded(self, other: PodInfo) -> bool:
        """Whether a pod that comes or goes matters to a filter for more than what it asks for."""
        return any(each.minds(state, other) for each, state in self._minding)

    def nominated_on(self, node: str) -> list[PodInfo]:
        """The pods nominated to it that count: of the same priority or a higher one (SCH-59)."""
        pods = self.nominated.get(node)
        if not pods:
            return []
        own, priority = self.pod.uid, self.pod.priority
        return [info for info in pods if info.priority >= priority and info.uid != own]

    def verdict(self, states: States, node: NodeInfo) -> Refusal | None:
        """Why the node refuses the pod; None if it takes it with the nominated pods there, and also
        without them (SCH-59)."""
        if self.refusal is not None:
            return self.refusal
        # Two passes, since a nominated pod is neither there nor certain to come. With it, there may
        # be no room left, or it may not want this pod near. Without it, this pod may lack the one
        # it must be near, or stand too unevenly. Only a node that takes the pod in both cases is
        # right whatever becomes of the nominations.
        nominated = self.nominated_on(node.name)
        if nominated:
            crowded, crowded_states = node.copy(), states
            for info in nominated:
                crowded.add(info)
                crowded_states = [(f, f.added(s, info, node)) for f, s in crowded_states]
            refusal = _first(crowded_states, crowded)
            if refusal is not None:
                return refusal
        return _first(states, node)

    def is_barred(self, name: str) -> bool:
        """Whether the node of that name is refused by such a filter."""
        return bool(self.barred) and self.snapshot.row[name] in self.barred

    def _refused_by(self, each: Filter, state: State) -> Iterable[int]:
        snapshot = self.snapshot
        if len(snapshot.names) > FEW:
            refused = each.check_all(state, snapshot)
            found: list[int] = [] if refused is None else np.flatnonzero(refused.codes).tolist()
            return found
        return [row for row, node in enumerate(snapshot.infos) if each.check(state, node)]

    def _prepare(self) -> None:
        pod, snapshot = self.pod, self.snapshot
        for each in self._filters:
            state = each.prepare(pod, snapshot)
            if state is None:
                continue
            if isinstance(state, Refusal):
                self.refusal = state
                return
            prepared = each, state
            self.states.append(prepared)
            if each.minds_pods:
                self._minding.append(prepared)


def _first(states: States, node: NodeInfo) -> Refusal | None:
    """The Refusal of the first filter that refuses (SCH-56)."""
    for each, state in states:
        refusal = each.check(state, node)
        if refusal is not None:
            return each.sound(refusal)
    return None
