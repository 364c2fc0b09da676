"""Options: for each group that may grow, which pods new nodes of it would help, and how many nodes.

Pods of one owner that are alike are asked about once. The number of nodes is found by packing: the
largest pods first, each into the next new node that takes it, else into one node more (CA-18).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from actors.autoscaler.expander import Expansion, container_requests
from actors.autoscaler.simulation.packer import Kind, RoundRobin, kind_of, owner_id
from actors.autoscaler.simulation.simulation import Simulation
from actors.autoscaler.templates import NodeTemplate
from actors.framework.fitting import Fitting
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import MEMORY, PodInfo
from actors.shared.daemon_pods import is_daemon_pod
from actors.shared.owners import controller_of
from testbed.objects.quantity import CPU, counted

KINDS_MAX = 10
"""How many kinds of pods of one owner are told apart; others are each asked about alone."""


@attrs.define(eq=False)
class Alike:
    """Pods of one owner that are the same to a scheduler, and what was found about them."""

    pods: list[PodInfo]
    rejected: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    """By group, why a new node of it does not take them."""
    is_helpable: bool = False
    """Whether a new node of some group takes them."""


def grouped(pods: Iterable[PodInfo]) -> list[Alike]:
    """The pods in groups of those that are alike."""
    groups: list[Alike] = []
    known: dict[str, dict[Kind, Alike]] = {}
    for pod in pods:
        owner = controller_of(pod.pod)
        if owner is None or is_daemon_pod(pod.pod):
            groups.append(Alike([pod]))
            continue
        kinds = known.setdefault(owner_id(owner), {})
        kind = kind_of(pod)
        if kind in kinds:
            kinds[kind].pods.append(pod)
            continue
        groups.append(Alike([pod]))
        if len(kinds) < KINDS_MAX:
            kinds[kind] = groups[-1]
    return groups


def helped(
    group: str, template: NodeTemplate, groups: Sequence[Alike], simulation: Simulation
) -> list[Alike]:
    """The pods that one new node of a group would take, each by itself. It notes why it would
    not take the others."""
    simulation.fork()
    node = template.copy(f"new:{group}")
    simulation.add_node(node)
    taken = []
    for alike in groups:
        refusal = Fitting(alike.pods[0], simulation.snapshot).on(node)
        if refusal is None:
            taken.append(alike)
            alike.is_helpable = True
        else:
            alike.rejected[group] = refusal.reasons
    simulation.revert()
    return taken


class Expansions:
    """How many nodes each group would need for the pods that it helps.

    Groups often differ in nothing but their names, for every zone or size of a cluster has one. Of
    those that are the same to a scheduler, and begin at one place of the round robin, one is packed
    and holds for all.
    """

    def __init__(self, simulation: Simulation, round_robin: RoundRobin, nodes_max: int) -> None:
        self._simulation = simulation
        self._round_robin = round_robin
        self._nodes_max = nodes_max
        self._known: list[tuple[object, int, Expansion]] = []
        """What was packed from where, where that has ended, and what came of it."""

    def of(self, group: str, template: NodeTemplate, groups: Sequence[Alike]) -> Expansion:
        """How many nodes of a group these pods need, and which of them find a place there."""
        asked = self._round_robin.digest(), groups, template.looks
        for known, end, found in self._known:
            if known == asked:
                self._round_robin.go_on(end)
                return Expansion(group, found.nodes, found.pods, template)
        found = self._packed(group, template, groups)
        self._known.append((asked, self._round_robin.digest(), found))
        return found

    def _packed(self, group: str, template: NodeTemplate, groups: Sequence[Alike]) -> Expansion:
        simulation, round_robin = self._simulation, self._round_robin
        simulation.fork()
        placed, used = [], set[str]()
        for pod, node in _packed(group, template, groups, simulation, round_robin, self._nodes_max):
            placed.append(pod)
            used.add(node)
        simulation.revert()
        return Expansion(group, len(used), tuple(placed), template)


def _packed(
    group: str,
    template: NodeTemplate,
    groups: Sequence[Alike],
    simulation: Simulation,
    round_robin: RoundRobin,
    nodes_max: int,
) -> Iterator[tuple[PodInfo, str]]:
    """Each pod that finds a place, with its node, among new nodes that are added one by one."""
    new = _NewNodes(simulation, round_robin)
    last, used = "", set[str]()
    # Pods that are alike are of one size, so they stay together.
    for alike in sorted(groups, key=lambda each: -_size(each.pods[0], template)):
        new.turn_to(alike)
        for pod in alike.pods:
            node = new.place_for(pod)
            if node is None:
                if len(new) >= nodes_max:
                    return
                if last and last not in used:
                    # A node that is still empty has just refused it: one more would, too.
                    continue
                last = f"new:{group}:{len(new)}"
                # The node stays even if it does not take the pod, as when pods are to be spread.
                if not new.takes(template.copy(last), pod):
                    continue
                node = last
            simulation.add_pod(pod, node)
            used.add(node)
            yield pod, node


class _NewNodes:
    """The nodes that are added for one group, and which of them may still take a pod."""

    def __init__(self, simulation: Simulation, round_robin: RoundRobin) -> None:
        self._simulation = simulation
        self._round_robin = round_robin
        self._first = len(simulation.snapshot)
        self._open: dict[Kind, list[int]] = {}
        """By kind of pod, the rows that have not refused it. Nodes only fill up: one that has
        refused a pod refuses those that are alike, unless they could gain by a pod that has come
        since."""
        self._rows: list[int] | None = None
        """Those for the pods that come next; None: they could gain."""
        self._fitting: Fitting | None = None
        """That of the last pod, if the next one is like it."""

    def __len__(self) -> int:
        return len(self._simulation.snapshot) - self._first

    def turn_to(self, alike: Alike) -> None:
        """The pods that come next are these."""
        one, self._rows, self._fitting = alike.pods[0], None, None
        if one.gains_by_removals:
            self._rows = self._open.setdefault(kind_of(one), [*self._all])

    def place_for(self, pod: PodInfo) -> str | None:
        """The name of the next node that takes the pod, or None."""
        if not len(self):
            return None
        simulation, fitting = self._simulation, self._fitting_of(pod)
        if self._rows is None:
            return self._round_robin.find(fitting, simulation, self._all)
        return self._round_robin.find_open(fitting, simulation, self._rows)

    def takes(self, info: NodeInfo, pod: PodInfo) -> bool:
        """Add a node, and return whether it takes the pod."""
        row = len(self._simulation.snapshot)
        self._simulation.add_node(info)
        for rows in self._open.values():
            rows.append(row)
        return self._fitting_of(pod).on(info) is None

    @property
    def _all(self) -> range:
        return range(self._first, len(self._simulation.snapshot))

    def _fitting_of(self, pod: PodInfo) -> Fitting:
        if self._fitting is None or not self._fitting.stays:
            self._fitting = Fitting(pod, self._simulation.snapshot)
        return self._fitting


def _size(pod: PodInfo, template: NodeTemplate) -> float:
    """How large a pod is: the share of a node's cpu that it asks for, plus that of its memory."""
    # A float, because the rounding of 1.26 decides between two that are as large.
    size = 0.0
    for resource in (CPU, MEMORY):
        amount = template.node.status.allocatable.get(resource)
        there = 0 if amount is None else counted(resource, amount)
        if there > 0:
            size += container_requests(pod, resource) / there
    return size
