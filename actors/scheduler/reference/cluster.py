"""Cluster: the nodes, the pods on each and those nominated to each, as one cycle sees them."""

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
"""What a container that says nothing is taken to ask for, where nodes are weighed (SCH-40)."""


@attrs.frozen(eq=False)
class Guest:
    """A pod, and what it asks for."""

    pod: Pod
    requests: Mapping[str, int]
    """By resource: cpu in thousandths, all else in whole units (GEN-12)."""
    scored: Mapping[str, int]
    """The same where nodes are weighed: of cpu and memory at least something."""

    @classmethod
    def of(cls, pod: Pod) -> Self:
        """That pod, as it is counted."""
        return cls(pod, requests_of(pod), {name: _scored(pod, name) for name in FLOORS})

    @property
    def uid(self) -> str:
        """Which pod it is."""
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
    """One node, who is there, and who is meant to come."""

    node: Node
    guests: tuple[Guest, ...] = ()
    """In the order in which they came."""
    nominated: tuple[Guest, ...] = ()
    """Who is nominated to it, in that order."""
    came: tuple[Guest, ...] = ()
    """Who of them was put there to see what would be then."""
    gone: tuple[Guest, ...] = ()
    """Who was taken away for that."""

    @property
    def name(self) -> str:
        """The node's."""
        return self.node.meta.name

    def with_guests(self, guests: Iterable[Guest]) -> NodeView:
        """The same node with these upon it as well."""
        new = tuple(guests)
        return attrs.evolve(self, guests=(*self.guests, *new), came=(*self.came, *new))

    def without(self, guests: Iterable[Guest]) -> NodeView:
        """The same node with these taken away."""
        gone = tuple(guests)
        uids = {each.uid for each in gone}
        left = tuple(each for each in self.guests if each.uid not in uids)
        return attrs.evolve(self, guests=left, gone=(*self.gone, *gone))


def in_turn(nodes: Iterable[Node]) -> Iterator[Node]:
    """One node of each zone in turn, the zones and the nodes of each as they came (SCH-42)."""
    zones: defaultdict[tuple[str, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        zones[tuple(_labelled(node, *keys) for keys in ZONE)].append(node)
    for turn in zip_longest(*zones.values()):
        yield from (node for node in turn if node is not None)


ZONE = (
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
)
"""What a zone is: a region and a zone, each by the old label or else the new one."""


def _labelled(node: Node, *keys: str) -> str:
    return next((node.meta.labels[key] for key in keys if key in node.meta.labels), "")


@attrs.frozen(eq=False)
class Cluster:
    """All of it."""

    places: Mapping[str, NodeView]
    """By the node's name, in the order in which nodes are looked at (SCH-42)."""
    budgets: tuple[PodDisruptionBudget, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    """The labels of each namespace."""
    now_ms: int = 0
    """What time it is."""

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
        """These nodes, with the pods bound to them and those nominated to them, each in order.
        What is bound or nominated to a node that is not there is not seen (SCH-39)."""
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
        """The same cluster with that node as it is said to be."""
        return attrs.evolve(self, places={**self.places, place.name: place})

    def without(self, guests: Iterable[Guest]) -> Cluster:
        """The same cluster with these taken away, each from the node it is bound to."""
        gone: defaultdict[str, list[Guest]] = defaultdict(list)
        for guest in guests:
            gone[guest.pod.spec.node_name].append(guest)
        left = {name: self.places[name].without(some) for name, some in gone.items()}
        return attrs.evolve(self, places={**self.places, **left})

    def guests(self) -> Iterator[tuple[Node, Guest]]:
        """Everybody, with the node each is on."""
        for place in self.places.values():
            for guest in place.guests:
                yield place.node, guest

    def counted(self, key: str, is_meant: Callable[[Guest], bool]) -> dict[str, int]:
        """How many of those that are meant stand at each value of a label of nodes."""
        counts: dict[str, int] = {}
        for node, guest in self.guests():
            value = node.meta.labels.get(key)
            if value is not None and is_meant(guest):
                counts[value] = counts.get(value, 0) + 1
        return counts
