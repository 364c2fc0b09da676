"""Feasibility: what the filters say of one pod in one cycle, and what they would say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import Filter, State
from actors.scheduler.messages import counted_reasons
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.snapshot import Snapshot

ENOUGH = 100
"""So many nodes that fit are looked for at least; of fewer nodes, all are looked at (SCH-55)."""
Nominated = Mapping[str, Sequence[PodInfo]]
"""The pods that are nominated to each node, in order."""
States = list[tuple[Filter, State]]


class Feasibility:
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
        looks: bool = True,
    ) -> None:
        self.pod = pod
        self._filters = filters
        self.snapshot = snapshot
        self.nominated = nominated
        self.rows: list[int] = []
        """The nodes that will do, in the order in which they were found."""
        self.refusals: dict[str, Refusal] = {}
        """Why each other node that was looked at will not."""
        self.said = ""
        """What one filter says of all nodes together."""
        self.error = ""
        """What went wrong, if something did; then there is no more to tell."""
        self.next_start = start
        """From where the next cycle looks."""
        self.states: States = []
        refusal = self._prepare(filters)
        if refusal is not None:
            self.said = refusal.reasons[0]
            self.refusals = dict.fromkeys(snapshot.names, refusal)
        elif looks and not self._is_at_home(own):
            self._look(start)

    @property
    def feasible(self) -> tuple[str, ...]:
        """The names of the nodes that will do."""
        return tuple(self.snapshot.names[row] for row in self.rows)

    @property
    def failed(self) -> tuple[str, ...]:
        """The filters that refused some node, by name."""
        return tuple(sorted({refusal.filter for refusal in self.refusals.values()}))

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many nodes give each reason."""
        return counted_reasons(self.refusals.values())

    @property
    def potential(self) -> list[int]:
        """The rows of the nodes where it could help that other pods go: all that were not refused
        for good, also those nobody looked at (SCH-76)."""
        refusals = self.refusals
        return [
            row
            for row, name in enumerate(self.snapshot.names)
            if name not in refusals or refusals[name].is_resolvable
        ]

    def nominated_on(self, node: str) -> list[PodInfo]:
        """The pods nominated there that count: those as important as this one at least (SCH-59)."""
        pods = self.nominated.get(node)
        if not pods:
            return []
        own, priority = self.pod.uid, self.pod.priority
        return [info for info in pods if info.priority >= priority and info.uid != own]

    def of(self, other: PodInfo) -> Feasibility:
        """The same filters asked of another pod, of which no node is looked at yet."""
        return Feasibility(other, self.snapshot, self._filters, self.nominated, looks=False)

    def trial(self, node: str) -> Trial:
        """A node to try things on; KeyError if there is none of that name."""
        return Trial(self, self.snapshot.infos[self.snapshot.row[node]])

    def verdict(self, states: States, node: NodeInfo) -> Refusal | None:
        """Why that node will not do as it is: first with the pods nominated there, then without
        them; for either may fail where the other does not (SCH-59)."""
        nominated = self.nominated_on(node.name)
        if nominated:
            crowded, crowded_states = node.copy(), states
            for info in nominated:
                crowded.add(info)
                crowded_states = [(f, f.added(s, info, node)) for f, s in crowded_states]
            refusal = first_refusal(crowded_states, crowded)
            if refusal is not None:
                return refusal
        return first_refusal(states, node)

    def _prepare(self, filters: Sequence[Filter]) -> Refusal | None:
        for each in filters:
            state = each.prepare(self.pod, self.snapshot)
            if isinstance(state, Refusal):
                return state
            if state is not None:
                self.states.append((each, state))
        return None

    def _is_at_home(self, own: str) -> bool:
        """Whether the node it is nominated to will do; then no other is looked at."""
        row = self.snapshot.row.get(own)
        return row is not None and self._will_do(row)

    def _will_do(self, row: int) -> bool:
        refusal = self.verdict(self.states, self.snapshot.infos[row])
        if refusal is None:
            self.rows.append(row)
        else:
            self.refusals[self.snapshot.names[row]] = refusal
        return refusal is None

    def _look(self, start: int) -> None:
        rows = self._rows()
        wanted = enough_of(len(rows))
        for n in range(len(rows)):
            if self._will_do(rows[(start + n) % len(rows)]) and len(self.rows) == wanted:
                break
        if rows:
            self.next_start = (start + len(self.rows) + len(self.refusals)) % len(rows)

    def _rows(self) -> Sequence[int]:
        """The rows worth while to look at (SCH-53)."""
        named = [each for f, s in self.states if (each := f.only(s)) is not None]
        if not named:
            return range(len(self.snapshot))
        names = sorted(frozenset.intersection(*named))
        unknown = [name for name in names if name not in self.snapshot.row]
        if unknown:
            self.error = f'nodeinfo not found for node name "{unknown[0]}"'
            return ()
        return sorted(self.snapshot.row[name] for name in names)


class Trial:
    """One node as it would be with some pods more or less; the cluster stays as it is (SCH-116)."""

    def __init__(self, feasibility: Feasibility, node: NodeInfo) -> None:
        self.node = node.copy()
        """The node as it would be; not to be changed but by this Trial."""
        self._feasibility = feasibility
        self._states = feasibility.states

    def add(self, info: PodInfo, node: str = "") -> None:
        """Let that pod be there; or on another node, of that name."""
        place = self._place(node)
        if place is self.node:
            place.add(info)
        self._states = [(f, f.added(s, info, place)) for f, s in self._states]

    def remove(self, info: PodInfo, node: str = "") -> None:
        """Let that pod be gone from there; or from another node, of that name."""
        place = self._place(node)
        if place is self.node:
            place.remove(info)
        self._states = [(f, f.removed(s, info, place)) for f, s in self._states]

    def refusal(self) -> Refusal | None:
        """Why the pod may not go to this node as it would be; None if it may (SCH-60)."""
        return self._feasibility.verdict(self._states, self.node)

    def fits(self) -> bool:
        """Whether it may go there."""
        return self.refusal() is None

    def _place(self, node: str) -> NodeInfo:
        if node in ("", self.node.name):
            return self.node
        snapshot = self._feasibility.snapshot
        return snapshot.infos[snapshot.row[node]]


def enough_of(nodes: int) -> int:
    """How many nodes that fit are enough, of so many (SCH-55)."""
    if nodes < ENOUGH:
        return nodes
    percent = max(50 - nodes // 125, 5)
    return max(nodes * percent // 100, ENOUGH)


def first_refusal(states: States, node: NodeInfo) -> Refusal | None:
    """What the first filter says that says no (SCH-56)."""
    for each, state in states:
        refusal = each.check(state, node)
        if refusal is not None:
            return refusal
    return None
