"""Cluster: the nodes, the pods on each and the pods nominated to each, in one cycle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Self

import attrs

from testbed.objects import Node, Pod, PodDisruptionBudget
from testbed.objects.pod import Container, requests_of
from testbed.objects.quantity import counted

FLOORS = {"cpu": 100, "memory": 200 * 1024 * 1024}
"""What a container without a request counts for when nodes are scored (SCH-40)."""


@attrs.frozen(eq=False)
class Guest:
    """A pod, and what it requests."""

    pod: Pod
    requests: Mapping[str, int]
    """Its requests by resource: cpu in thousandths, all else in whole units (GEN-12)."""
    scored: Mapping[str, int]
    """Its requests of cpu and memory for scoring, with FLOORS where none is said."""

    @classmethod
    def of(cls, pod: Pod) -> Self:
        """Make the Guest of a pod."""
        return cls(pod, requests_of(pod), {name: _scored(pod, name) for name in FLOORS})

    @property
    def uid(self) -> str:
        """The uid of the pod."""
        return self.pod.meta.uid


def _scored(pod: Pod, resource: str) -> int:
    def asked(container: Container) -> int:
        amount = container.resources.requests.get(resource)
        return FLOORS[resource] if amount is None else counted(resource, amount)

    total = sum(asked(each) for each in pod.spec.containers)
    total = max([total, *(asked(each) for each in pod.spec.init_containers)])
    overhead = pod.spec.overhead.get(resource)
    return total if overhead is None else total + counted(resource, overhead)


@attrs.frozen(eq=False)
class NodeView:
    """A node, the pods on it, and the pods nominated to it."""

    node: Node
    guests: tuple[Guest, ...] = ()
    """The pods on it, in the order in which they came."""
    nominated: tuple[Guest, ...] = ()
    """The pods nominated to it, in the order of their nomination."""
    came: tuple[Guest, ...] = ()
    """The guests that were put there to see what would be then."""
    gone: tuple[Guest, ...] = ()
    """The pods that were taken away for that."""

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.node.meta.name

    def with_guests(self, guests: Iterable[Guest]) -> NodeView:
        """The same node with these pods as well."""
        new = tuple(guests)
        return attrs.evolve(self, guests=(*self.guests, *new), came=(*self.came, *new))

    def without(self, guests: Iterable[Guest]) -> NodeView:
        """The same node without these pods."""
        gone = tuple(guests)
        uids = {each.uid for each in gone}
        left = tuple(each for each in self.guests if each.uid not in uids)
        return attrs.evolve(self, guests=left, gone=(*self.gone, *gone))


def in_turn(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, one of each zone in turn; zones and their nodes in order of arrival (SCH-42)."""
    zones: defaultdict[tuple[str, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        zones[tuple(_first_label(node, *keys) for keys in ZONE)].append(node)
    for turn in zip_longest(*zones.values()):
        yield from (node for node in turn if node is not None)


ZONE = (
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
)
"""A zone is a region and a zone; each is read from the old label, or else from the new one."""


def _first_label(node: Node, *keys: str) -> str:
    return next((node.meta.labels[key] for key in keys if key in node.meta.labels), "")


@attrs.frozen(eq=False)
class Cluster:
    """The whole cluster; it is never changed, each change makes another one."""

    places: Mapping[str, NodeView]
    """The nodes by name, in the order in which they are filtered (SCH-42)."""
    budgets: tuple[PodDisruptionBudget, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    """The labels of each namespace."""
    now_ms: int = 0
    """The current time."""

    @classmethod
    def of(
        cls,
        nodes: Iterable[Node],
        pods: Iterable[Pod] = (),
        nominated: Iterable[tuple[Pod, str]] = (),
        budgets: Iterable[PodDisruptionBudget] = (),
        namespaces: Mapping[str, Mapping[str, str]] | None = None,
        now_ms: int = 0,
    ) -> Self:
        """A Cluster of these nodes, with the pods bound and nominated to them, each in order.

        A pod that is bound or nominated to a node that is not there is left out (SCH-39).
        """
        guests: defaultdict[str, list[Guest]] = defaultdict(list)
        awaited: defaultdict[str, list[Guest]] = defaultdict(list)
        for pod in pods:
            guests[pod.spec.node_name].append(Guest.of(pod))
        for pod, name in nominated:
            awaited[name].append(Guest.of(pod))
        places = {}
        for node in in_turn(nodes):
            name = node.meta.name
            places[name] = NodeView(node, tuple(guests[name]), tuple(awaited[name]))
        return cls(places, tuple(budgets), namespaces or {}, now_ms)

    def having(self, place: NodeView) -> Cluster:
        """The same cluster with this node in place of the one of its name."""
        return attrs.evolve(self, places={**self.places, place.name: place})

    def without(self, guests: Iterable[Guest]) -> Cluster:
        """The same cluster without these pods, each taken from the node it is bound to."""
        gone: defaultdict[str, list[Guest]] = defaultdict(list)
        for guest in guests:
            gone[guest.pod.spec.node_name].append(guest)
        left = {name: self.places[name].without(some) for name, some in gone.items()}
        return attrs.evolve(self, places={**self.places, **left})

    def guests(self) -> Iterator[tuple[Node, Guest]]:
        """All pods, each with its node."""
        for place in self.places.values():
            for guest in place.guests:
                yield place.node, guest

    def counted(self, key: str, is_meant: Callable[[Guest], bool]) -> dict[str, int]:
        """The number of pods that `is_meant` accepts, by the value of a label of their nodes."""
        counts: dict[str, int] = {}
        for node, guest in self.guests():
            value = node.meta.labels.get(key)
            if value is not None and is_meant(guest):
                counts[value] = counts.get(value, 0) + 1
        return counts
