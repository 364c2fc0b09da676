"""RemoveDuplicates: pods of one owner are to be spread evenly over the nodes that they may be on.

Which nodes that are goes by taints and node affinity alone. A node that is full counts, too: so it
may evict what can only come back to where it was (descheduler#1237).
"""

from __future__ import annotations

import attrs

from actors.controllers.descheduler.sight import Evictions, Sight
from actors.framework.podinfo import info_of
from testbed.objects import Node, Pod


@attrs.frozen
class Family:
    """What duplicates have in common."""

    namespace: str
    owner: str
    images: tuple[str, ...]


def duplicates(sight: Sight) -> Evictions:
    """1. Of each family count its pods, and sort out on each node all but the first. 2. A node may
    keep as many as there would be if they were spread evenly; the others go."""
    counts: dict[Family, int] = {}
    extra: dict[Family, dict[str, list[Pod]]] = {}
    for node in sight.nodes:
        seen: dict[Family, None] = {}
        for pod in filter(sight.may_evict, sight.pods_on(node.meta.name)):
            for family in _families(pod):
                counts[family] = counts.get(family, 0) + 1
                if family in seen:
                    extra.setdefault(family, {}).setdefault(node.meta.name, []).append(pod)
                seen[family] = None
    for family, by_node in extra.items():
        targets = _targets(sight, by_node)
        if len(targets) < 2:
            continue
        share = -(-counts[family] // len(targets))
        for pods in by_node.values():
            for pod in pods[share - 1 :]:
                yield pod


def _families(pod: Pod) -> list[Family]:
    images = tuple(sorted(container.image for container in pod.spec.containers))
    return [
        Family(pod.meta.namespace, f"{owner.kind}/{owner.name}", images)
        for owner in pod.meta.owners
    ]


def _targets(sight: Sight, by_node: dict[str, list[Pod]]) -> list[Node]:
    """The nodes that any of the pods may be on, if it may be on more than one."""
    found: dict[str, Node] = {}
    for pods in by_node.values():
        for info in map(info_of, pods):
            may = [
                node
                for node in sight.nodes
                if info.may_be_on(node) and info.repelled_by(node.spec.taints) is None
            ]
            if len(may) > 1:
                found |= {node.meta.name: node for node in may}
    return list(found.values())
