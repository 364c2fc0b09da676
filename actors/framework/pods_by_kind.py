"""PodsByKind: on which nodes the pods of each kind are; from it topology counts are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, Term, WeightedTerm
from testbed.objects import Map

KindKey = tuple[str, Map[str], bool]
"""All that a selector sees of a pod, namespace and labels; and whether it is terminating."""
TERMS: Mapping[str, Callable[[PodInfo], Iterable[Term | WeightedTerm]]] = {
    "affinity": lambda info: info.affinity,
    "anti_affinity": lambda info: info.anti_affinity,
    "liked": lambda info: info.liked,
    "disliked": lambda info: info.disliked,
}


K = TypeVar("K")


@attrs.frozen(eq=False)
class PodKind:
    """The pods of one kind: how many are on which node."""

    example: PodInfo
    """One of them, as an example of all."""
    count_on: dict[str, int] = attrs.field(factory=dict)
    """The number of pods, by the name of the node."""


class PodsByKind:
    """The pods of a cluster by kind: pods that no selector can tell apart are of one kind."""

    # Affinity and spreading ask of every pod whether a selector matches it. Ten thousand pods of
    # twenty Deployments are twenty kinds, so a selector is matched twenty times; then the nodes of
    # the kinds that match are counted. Terms of the pods themselves are kept in the same way: equal
    # terms are one. The Snapshot moves pods here as they come and go, so this is built only once.

    def __init__(self, nodes: Iterable[NodeInfo]) -> None:
        self._kinds: dict[KindKey, PodKind] = {}
        self._terms: dict[str, dict[Term | WeightedTerm, PodKind]] = {name: {} for name in TERMS}
        for node in nodes:
            for info in node.pods:
                self.move(info, node.name, 1)

    @property
    def kinds(self) -> Iterator[PodKind]:
        """Each kind of pods."""
        return iter(self._kinds.values())

    def with_terms(self, which: str) -> Iterator[tuple[Term | WeightedTerm, PodKind]]:
        """Each different term of that sort, of TERMS, with the pods that have it."""
        return iter(self._terms[which].items())

    def move(self, info: PodInfo, node: str, by: int) -> None:
        """Count `by` more such pods on that node: 1 if it has come, -1 if it is gone."""
        key = (info.namespace, info.pod.meta.labels, info.pod.meta.is_terminating)
        _move(self._kinds, key, info, node, by)
        if info.has_terms:
            for which, terms in TERMS.items():
                for term in terms(info):
                    _move(self._terms[which], term, info, node, by)


def _move(kinds: dict[K, PodKind], key: K, info: PodInfo, node: str, by: int) -> None:
    kind = kinds.get(key)
    if kind is None:
        kind = kinds[key] = PodKind(info)
    kind.count_on[node] = kind.count_on.get(node, 0) + by
    if not kind.count_on[node]:
        del kind.count_on[node]
        if not kind.count_on:
            del kinds[key]
