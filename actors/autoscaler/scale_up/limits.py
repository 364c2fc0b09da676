"""Limits: how many cores and how much memory the cluster may still get (CA-17, CA-20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from actors.autoscaler.node_capacity import Amounts, amounts_of
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.cloud_view import CloudView
from actors.autoscaler.templates import NodeTemplate
from actors.framework.podinfo import MEMORY
from testbed.objects import Node
from testbed.objects.quantity import CPU


class NoTemplate(Exception):
    """A group has no template, so what its nodes count for is not known."""


def left(
    settings: AutoscalerSettings,
    cloud: CloudView,
    templates: Mapping[str, NodeTemplate],
    usable: Iterable[Node],
) -> Amounts:
    """What the cluster may still get. Each group counts for its target, whatever is there.

    NoTemplate if a group has none: then 1.26 gives up the whole scale-up.
    """
    total = {CPU: 0, MEMORY: 0}
    for group in cloud.groups:
        if group.name not in templates:
            raise NoTemplate(f"No node info for: {group.name}")
        for name, amount in amounts_of(templates[group.name].node).items():
            total[name] += max(group.target, 0) * amount
    for node in usable:
        if cloud.group_of(node.meta.name) is None:
            for name, amount in amounts_of(node).items():
                total[name] += amount
    most = {CPU: settings.max_cores, MEMORY: settings.max_memory}
    return {name: max(most[name] - total[name], 0) for name in most if most[name] > 0}


def exceeded(template: NodeTemplate, left_over: Amounts) -> list[str]:
    """The resources that do not suffice for one more node."""
    amounts = amounts_of(template.node)
    return [name for name, amount in amounts.items() if amount > left_over.get(name, amount)]


def capped(nodes: int, template: NodeTemplate, left_over: Amounts) -> int:
    """How many of these nodes the limits allow. It is asked only of groups for which nothing is
    `exceeded`, so one node is always allowed."""
    for name, amount in amounts_of(template.node).items():
        if name in left_over and nodes * amount > left_over[name]:
            nodes = left_over[name] // amount
    return nodes
