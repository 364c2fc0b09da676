"""Judging: what the filters say of one pod on one node, as it is and as it would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from actors.framework.filter import Filter, NodeFilter, State
from actors.framework.filters.resources import FOUR, Asked, NodeResourcesFitFilter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot

Nominated = Mapping[str, Sequence[PodInfo]]
"""The pods that are nominated to each node, in order."""
States = list[tuple[Filter, State]]
"""Filters, each with what it knows of a pod."""


class Judging:
    """One pod in one cycle, and the filters that have been told of it."""

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
        """What each filter knows of it that may refuse it."""
        self.refusal: Refusal | None = None
        """What one filter says of all nodes at once; then the others were not asked."""
        self._filters = filters
        self._prepare()
        self._minding = [(f, s) for f, s in self.states if f.minds_pods]

    def of(self, pod: PodInfo, nominated: Nominated) -> Judging:
        """The same filters, asked of another pod beside other nominations."""
        return Judging(pod, self.snapshot, self._filters, nominated)

    @cached_property
    def only_room(self) -> tuple[NodeResourcesFitFilter, Asked] | None:
        """The filter that minds how much is left, and what is asked of it, if no other minds any
        pod that may come or go."""
        others = [info for pods in self.nominated.values() for info in pods]
        minding = any(f.minds_any(s, self.snapshot) for f, s in self._minding)
        if self.refusal is not None or minding or any(map(self.is_minded, others)):
            return None
        return next(
            (
                (each, state)
                for each, state in self.states
                if isinstance(each, NodeResourcesFitFilter) and set(state.names) <= set(FOUR)
            ),
            None,
        )

    @cached_property
    def fixed(self) -> States:
        """The filters that look at nodes alone."""
        return [(f, s) for f, s in self.states if isinstance(f, NodeFilter)]

    def node(self, name: str) -> NodeInfo:
        """The node of that name, as it is; KeyError if there is none."""
        return self.snapshot.infos[self.snapshot.row[name]]

    def is_minded(self, other: PodInfo) -> bool:
        """Whether it matters that that pod comes or goes for more than what it takes."""
        return any(each.minds(state, other) for each, state in self._minding)

    def nominated_on(self, node: str) -> list[PodInfo]:
        """The pods nominated there that count: those as important as this one at least (SCH-59)."""
        pods = self.nominated.get(node)
        if not pods:
            return []
        own, priority = self.pod.uid, self.pod.priority
        return [info for info in pods if info.priority >= priority and info.uid != own]

    def verdict(self, states: States, node: NodeInfo) -> Refusal | None:
        """Why that node will not do as it is: first with the pods nominated there, then without
        them; for either may fail where the other does not (SCH-59)."""
        if self.refusal is not None:
            return self.refusal
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

    def _prepare(self) -> None:
        for each in self._filters:
            state = each.prepare(self.pod, self.snapshot)
            if isinstance(state, Refusal):
                self.refusal = state
                return
            if state is not None:
                self.states.append((each, state))


def _first(states: States, node: NodeInfo) -> Refusal | None:
    """What the first filter says that says no (SCH-56)."""
    for each, state in states:
        refusal = each.check(state, node)
        if refusal is not None:
            return each.sound(refusal)
    return None
