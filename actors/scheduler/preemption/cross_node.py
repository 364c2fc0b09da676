"""Experiment: let also pods of other nodes go, that stand in the way of this one (SCH-106)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot
from actors.scheduler.preemption.importance import ByImportance
from actors.scheduler.preemption.trial import AnyTrial

SETS_MAX = 10_000
"""So many sets of pods are tried for one node."""


@attrs.frozen
class Far:
    """Pods of other nodes that are to go, too."""

    pods: tuple[PodInfo, ...]
    """None: no such set was found."""
    home: Mapping[str, str]
    """On which node each is, by its uid."""
    tried: int
    """How many sets were tried."""


@attrs.frozen
class Reach:
    """How far one preemption may reach beyond the node it is for."""

    pod: PodInfo
    snapshot: Snapshot
    may_go: Callable[[PodInfo], bool]
    by_importance: ByImportance
    pods_max: int
    """So many pods of other nodes."""
    nodes_max: int
    """On so many of those."""

    def victims(self, trial: AnyTrial) -> Far:
        """The first set of far pods without which it fits; they are taken away then.

        All that may go of the node itself has been taken away before. Small sets come first, and
        of one size those of less important pods.
        """
        node = self.snapshot.infos[self.snapshot.row[trial.name]]
        found = list(self._in_the_way(node))
        pods = self.by_importance(info for info, _ in found)[::-1]
        home = {info.uid: name for info, name in found}
        tried = min(len(pods), 1)
        if not pods or not self._helps(trial, pods, home, keep=False):
            return Far((), home, tried)
        for some in self._sets(pods, home):
            tried += 1
            if self._helps(trial, some, home, keep=True):
                return Far(some[::-1], home, tried)
            if tried == SETS_MAX:
                break
        return Far((), home, tried)

    def _sets(
        self, pods: Sequence[PodInfo], home: Mapping[str, str]
    ) -> Iterator[tuple[PodInfo, ...]]:
        for size in range(1, min(self.pods_max, len(pods)) + 1):
            for some in combinations(pods, size):
                if len({home[info.uid] for info in some}) <= self.nodes_max:
                    yield some

    def _helps(
        self, trial: AnyTrial, some: Sequence[PodInfo], home: Mapping[str, str], *, keep: bool
    ) -> bool:
        """Whether it fits without these; they are back afterwards, unless `keep` and it fits."""
        for info in some:
            trial.remove(info, home[info.uid])
        fits = trial.fits()
        if not (fits and keep):
            for info in some:
                trial.add(info, home[info.uid])
        return fits

    def _in_the_way(self, node: NodeInfo) -> Iterator[tuple[PodInfo, str]]:
        """The pods of other nodes that may go and have to do with this one, and their nodes."""
        for other in self.snapshot.infos:
            shared = {key for key, value in node.labels.items() if other.labels.get(key) == value}
            if other.name == node.name or not shared:
                continue
            for info in other.pods:
                if self.may_go(info) and not shared.isdisjoint(self._concerns(info)):
                    yield info, other.name

    def _concerns(self, info: PodInfo) -> Iterator[str]:
        """By which labels of nodes that pod is too near this one, or one too many near it."""
        pod, namespaces = self.pod, self.snapshot.namespaces
        for term in pod.anti_affinity:
            if term.matches(info, namespaces):
                yield term.topology_key
        for term in info.anti_affinity:
            if term.matches(pod, namespaces):
                yield term.topology_key
        for spread in pod.pod.spec.topology_spread:
            selector = spread.label_selector
            if info.namespace == pod.namespace and selector and selector.matches(info.labels):
                yield spread.topology_key
