"""Balancing: new nodes are spread over groups that are alike, the smallest group first (CA-20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.autoscaler.pass_record import GroupResize
from actors.autoscaler.templates import NodeTemplate
from actors.framework.podinfo import MEMORY
from actors.shared.node_groups import GroupView
from testbed.objects import Map, Quantity, requests_of
from testbed.objects.node import HOSTNAME
from testbed.objects.quantity import counted

IGNORED_LABELS = {
    HOSTNAME,
    *(f"failure-domain.beta.kubernetes.io/{name}" for name in ("zone", "region")),
    *(f"topology.kubernetes.io/{name}" for name in ("zone", "region")),
    "beta.kubernetes.io/fluentd-ds-ready",
    "kops.k8s.io/instancegroup",
}
"""Labels by which alike groups may differ."""
ALLOCATABLE_PER_MILLE, FREE_PER_MILLE, CAPACITY_PER_MILLE = 50, 50, 15
"""How far allocatable, free and, of memory, capacity may be apart."""


def balanced(groups: Sequence[GroupView], new_nodes: int) -> list[GroupResize]:
    """How large each group becomes: one node after the other goes to a smallest group that may
    still grow.

    The groups stand in order of their sizes. It goes along them as long as the next one is smaller
    than the one that has just grown, and then begins again at the first. A group that turns out to
    be full changes places with the first group that was not known to be full. So full groups come
    first in the result, and are asked for first.
    """
    order = sorted((g for g in groups if g.target != g.max_size), key=lambda g: g.target)
    sizes = {group.name: group.target for group in order}
    left = min(new_nodes, sum(max(group.max_size - group.target, 0) for group in order))
    first = at = 0
    while left > 0:
        if sizes[order[at].name] < order[at].max_size:
            sizes[order[at].name] += 1
            left -= 1
        else:
            order[first], order[at] = order[at], order[first]
            first += 1
        is_next = at + 1 < len(order) and sizes[order[at].name] > sizes[order[at + 1].name]
        at = at + 1 if is_next else first
    return [
        GroupResize(group.name, group.target, sizes[group.name], group.max_size)
        for group in order
        if sizes[group.name] != group.target
    ]


def are_alike(one: NodeTemplate, other: NodeTemplate) -> bool:
    """Whether two groups have the same machines, near enough."""
    mine, theirs = one.node.status, other.node.status
    return (
        _have_equal_capacity(mine.capacity, theirs.capacity)
        and _are_near(
            _counted(mine.allocatable), _counted(theirs.allocatable), ALLOCATABLE_PER_MILLE
        )
        and _are_near(_free(one), _free(other), FREE_PER_MILLE)
        and _labels(one) == _labels(other)
    )


def _have_equal_capacity(mine: Map[Quantity], theirs: Map[Quantity]) -> bool:
    if mine.keys() != theirs.keys():
        return False
    one, other = _counted(mine), _counted(theirs)
    rest = [name for name in one if name != MEMORY]
    return all(one[name] == other[name] for name in rest) and (
        MEMORY not in one or _is_near(one[MEMORY], other[MEMORY], CAPACITY_PER_MILLE)
    )


def _counted(amounts: Map[Quantity]) -> dict[str, int]:
    return {name: counted(name, amount) for name, amount in amounts.items()}


def _free(template: NodeTemplate) -> dict[str, int]:
    """What the node has for pods, less what its daemon and mirror pods request."""
    free = _counted(template.node.status.allocatable)
    for pod in template.pods:
        for name, amount in requests_of(pod).items():
            free[name] = free.get(name, 0) - amount
    return free


def _are_near(mine: Mapping[str, int], theirs: Mapping[str, int], per_mille: int) -> bool:
    return mine.keys() == theirs.keys() and all(
        _is_near(mine[name], theirs[name], per_mille) for name in mine
    )


def _is_near(one: int, other: int, per_mille: int) -> bool:
    return abs(one - other) * 1000 <= max(one, other) * per_mille


def _labels(template: NodeTemplate) -> dict[str, str]:
    labels = template.node.meta.labels
    return {name: value for name, value in labels.items() if name not in IGNORED_LABELS}
