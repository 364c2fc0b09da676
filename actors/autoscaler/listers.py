"""Listers: the Caches of the autoscaler, and what it lists from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from testbed import Cache, Client
from testbed.objects import (
    ConfigMap,
    DaemonSet,
    Job,
    Namespace,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

O = TypeVar("O", bound=Object)  # noqa: E741
OWNERS: tuple[type[Object], ...] = (ReplicaSet, ReplicationController, Job, StatefulSet)
"""The kinds of owners that it knows, beside DaemonSets."""


class Listers:
    """Nodes, pods, budgets and owners, each as stale as its watch."""

    def __init__(self, client: Client) -> None:
        self._caches: list[Cache[Any]] = []
        self._client = client
        self.nodes = self._cache(Node)
        self.pods = self._cache(Pod)
        self.budgets = self._cache(PodDisruptionBudget)
        self.namespaces = self._cache(Namespace)
        self.config = self._cache(ConfigMap)
        self._daemon_sets = self._cache(DaemonSet)
        self._owners: dict[str, Cache[Any]] = {kind.kind: self._cache(kind) for kind in OWNERS}
        self._owners[DaemonSet.kind] = self._daemon_sets

    async def synced(self) -> None:
        """Wait until all have listed."""
        for cache in self._caches:
            await cache.synced()

    def on_news(self, tell: Any) -> None:
        """Have `tell` called whenever anything changes."""
        for cache in self._caches:
            cache.on(add=tell, update=tell, delete=tell)

    def owner(self, kind: str, namespace: str, name: str) -> Object | None:
        """An owner, or None if there is none of that name."""
        cache = self._owners.get(kind)
        return None if cache is None else cache.get(name, namespace)

    def daemon_sets(self) -> list[DaemonSet]:
        """All DaemonSets."""
        return self._daemon_sets.all()

    def settings(self) -> Mapping[str, ConfigMap]:
        """The ConfigMaps of `kube-system`, by name."""
        found = (each for each in self.config.all() if each.meta.namespace == "kube-system")
        return {each.meta.name: each for each in found}

    def labels_of_namespaces(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of each namespace."""
        return {each.meta.name: each.meta.labels for each in self.namespaces.all()}

    def _cache(self, kind: type[O]) -> Cache[O]:
        made = Cache(self._client, kind, reads=None)
        self._caches.append(made)
        return made
