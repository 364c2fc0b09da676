"""Standing: where the pods of each kind stand, and where those that mind who is near them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import Liked, PodInfo, Term
from testbed.objects import Map

Kind = tuple[str, Map[str], bool]
"""All that selectors see of a pod, and whether it is on its way."""
TERMS: Mapping[str, Callable[[PodInfo], Iterable[Term | Liked]]] = {
    "affinity": lambda info: info.affinity,
    "anti_affinity": lambda info: info.anti_affinity,
    "liked": lambda info: info.liked,
    "disliked": lambda info: info.disliked,
}


K = TypeVar("K")


@attrs.frozen(eq=False)
class Stand:
    """On which nodes some pods are, and how many."""

    like: PodInfo
    """One of them; the others are as it is."""
    on: dict[str, int] = attrs.field(factory=dict)
    """By the name of the node."""


class Standing:
    """The pods of a cluster in few kinds: those that no selector can tell apart are one.

    What is asked of every pod of a cluster is asked once of each kind.
    """

    def __init__(self, nodes: Iterable[NodeInfo]) -> None:
        self._kinds: dict[Kind, Stand] = {}
        self._terms: dict[str, dict[Term | Liked, Stand]] = {name: {} for name in TERMS}
        for node in nodes:
            for info in node.pods:
                self.move(info, node.name, 1)

    @property
    def kinds(self) -> Iterator[Stand]:
        """All of them."""
        return iter(self._kinds.values())

    def with_terms(self, which: str) -> Iterator[tuple[Term | Liked, Stand]]:
        """Each term that some pods have, of that sort, and where those stand."""
        return iter(self._terms[which].items())

    def move(self, info: PodInfo, node: str, by: int) -> None:
        """So many such pods have come to that node, or gone."""
        kind = (info.namespace, info.pod.meta.labels, info.pod.meta.is_terminating)
        _move(self._kinds, kind, info, node, by)
        if info.has_terms:
            for which, terms in TERMS.items():
                for term in terms(info):
                    _move(self._terms[which], term, info, node, by)


def _move(stands: dict[K, Stand], what: K, info: PodInfo, node: str, by: int) -> None:
    stand = stands.get(what)
    if stand is None:
        stand = stands[what] = Stand(info)
    stand.on[node] = stand.on.get(node, 0) + by
    if not stand.on[node]:
        del stand.on[node]
        if not stand.on:
            del stands[what]
