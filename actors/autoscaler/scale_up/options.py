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
) -> list[PodInfo]:
    """The pods that one new node of a group would take, each by itself. It notes why it would
    not take the others."""
    simulation.fork()
    node = template.copy(f"new:{group}")
    simulation.add_node(node)
    pods = []
    for alike in groups:
        refusal = Fitting(alike.pods[0], simulation.snapshot).on(node)
        if refusal is None:
            pods += alike.pods
            alike.is_helpable = True
        else:
            alike.rejected[group] = refusal.reasons
    simulation.revert()
    return pods


def expansion_for(
    group: str,
    template: NodeTemplate,
    pods: Sequence[PodInfo],
    simulation: Simulation,
    round_robin: RoundRobin,
    nodes_max: int,
) -> Expansion:
    """How many nodes of a group these pods need, and which of them find a place there."""
    simulation.fork()
    placed, used = [], set[str]()
    for pod, node in _packed(group, template, pods, simulation, round_robin, nodes_max):
        placed.append(pod)
        used.add(node)
    simulation.revert()
    return Expansion(group, len(used), tuple(placed), template)


def _packed(
    group: str,
    template: NodeTemplate,
    pods: Sequence[PodInfo],
    simulation: Simulation,
    round_robin: RoundRobin,
    nodes_max: int,
) -> Iterator[tuple[PodInfo, str]]:
    """Each pod that finds a place, with its node, among new nodes that are added one by one."""
    first = len(simulation.snapshot)
    last, used = "", set[str]()
    refused: dict[Kind, set[int]] = {}
    for pod in sorted(pods, key=lambda each: -_size(each, template)):
        rows = range(first, len(simulation.snapshot))
        # Nodes only fill up: one that has refused a pod refuses those that are alike, unless they
        # could gain by a pod that has come since.
        known = refused.setdefault(kind_of(pod), set()) if pod.gains_by_removals else None
        node = round_robin.find(pod, simulation, rows, known) if rows else None
        if node is None:
            if len(rows) >= nodes_max:
                return
            if last and last not in used:
                # A node that is still empty has just refused it: one more would, too.
                continue
            last = f"new:{group}:{len(rows)}"
            info = template.copy(last)
            simulation.add_node(info)
            # The node stays even if it does not take the pod, as when pods are to be spread.
            if Fitting(pod, simulation.snapshot).on(info) is not None:
                continue
            node = last
        simulation.add_pod(pod, node)
        used.add(node)
        yield pod, node


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
