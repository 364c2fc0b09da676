"""Informers: the Caches of one life of a scheduler, what the API server has told it."""

from __future__ import annotations

import attrs

from actors.scheduler.placing.avoid import HAVE_FAILED
from testbed import Cache, Client, Selector
from testbed.objects import Namespace, Node, Pod, PodDisruptionBudget
from testbed.objects.pod import FAILED, SUCCEEDED

NOT_OVER = Selector(unlike=(("status.phase", SUCCEEDED), ("status.phase", FAILED)))
"""Pods that are not over. One that is over disappears for a scheduler (SCH-3)."""


class Informers:
    """One Cache for each kind that a scheduler watches."""

    def __init__(
        self, client: Client, *, is_fenced: bool, watches_failed: bool, only_of: str = ""
    ) -> None:
        """`only_of`: the `schedulerName` of the only pods that it shows; empty: all pods."""
        shown = NOT_OVER
        if only_of:
            shown = attrs.evolve(NOT_OVER, fields=(("spec.scheduler_name", only_of),))
        # A fenced leader lists pods and nodes from the Store itself: an older list could lack a
        # bind of the leader before it (see leading.py).
        self.pods = Cache(client, Pod, shown, quorum=is_fenced)
        self.nodes = Cache(client, Node, quorum=is_fenced)
        self.budgets = Cache(client, PodDisruptionBudget)
        self.namespaces = Cache(client, Namespace)
        self.failed = Cache(client, Pod, HAVE_FAILED, quorum=is_fenced) if watches_failed else None
        """The pods that have failed, if an experiment needs them."""
        self._all_budgets: tuple[PodDisruptionBudget, ...] | None = None

    async def synced(self) -> None:
        """Wait until every informer has listed (SCH-43)."""
        for cache in (self.pods, self.nodes, self.budgets, self.namespaces, self.failed):
            if cache is not None:
                await cache.synced()

    def pod(self, key: str) -> Pod | None:
        """The pod at `key` as its informer has it now, or None."""
        return self.pods.known.get(key)

    def reread(self, pod: Pod) -> Pod | None:
        """That pod as its informer has it now, or None."""
        return self.pod(pod.key)

    def all_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """All budgets, by name. The same tuple as long as none has changed."""
        if self._all_budgets is None:
            self._all_budgets = tuple(self.budgets.all())
        return self._all_budgets

    def budgets_changed(self, *_: PodDisruptionBudget) -> None:
        """A handler: a budget was added, updated or deleted."""
        self._all_budgets = None
