"""Experiment: also evict pods of other nodes, if they keep the preemptor off this one (SCH-106)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot
from actors.scheduler.preemption.preemptor import Preemptor
from actors.scheduler.preemption.trial import AnyTrial

SETS_MAX = 10_000
"""The most sets of pods that are tried for one node."""


@attrs.frozen
class Far:
    """Pods of other nodes that must go as well."""

    pods: tuple[PodInfo, ...]
    """Empty if no set of them helps."""
    nodes: Mapping[str, str]
    """The node of each of them, by uid."""
    tried: int
    """How many sets were tried."""


@attrs.frozen
class Reach:
    """Looks for victims beyond the node that room is made on."""

    preemptor: Preemptor
    snapshot: Snapshot

    def victims(self, trial: AnyTrial) -> Far:
        """Find the first set of far pods without which the preemptor fits, and remove it.

        All potential victims of the node itself have been removed from the trial before. Small sets
        are tried first; among sets of one size, those of less important pods.
        """
        node = self.snapshot.infos[self.snapshot.row[trial.name]]
        found = list(self._in_the_way(node))
        pods = self.preemptor.by_importance(info for info, _ in found)[::-1]
        nodes = {info.uid: name for info, name in found}
        tried = 0
        # There are exponentially many sets. So all far pods are removed first: where not even that
        # helps, as on most nodes, the search is skipped.
        if pods and self.preemptor.pod.gains_by_removals:
            tried = 1
            if not self._helps(trial, pods, nodes, keep=False):
                return Far((), nodes, tried)
        for some in self._sets(pods, nodes):
            tried += 1
            if self._helps(trial, some, nodes, keep=True):
                # As they stood on their nodes: what is equal otherwise goes by that (SCH-83).
                far = tuple(info for info, _ in found if info in some)
                return Far(far, nodes, tried)
            if tried == SETS_MAX:
                break
        return Far((), nodes, tried)

    def _sets(
        self, pods: Sequence[PodInfo], nodes: Mapping[str, str]
    ) -> Iterator[tuple[PodInfo, ...]]:
        switches = self.preemptor.switches
        for size in range(1, min(switches.cross_node_victims, len(pods)) + 1):
            for some in combinations(pods, size):
                if len({nodes[info.uid] for info in some}) <= switches.cross_node_nodes:
                    yield some

    def _helps(
        self, trial: AnyTrial, some: Sequence[PodInfo], nodes: Mapping[str, str], *, keep: bool
    ) -> bool:
        """Whether the preemptor fits without these pods. They are put back afterwards, unless it
        fits and `keep` is true."""
        for info in some:
            trial.remove(info, nodes[info.uid])
        fits = trial.fits()
        if not (fits and keep):
            for info in some:
                trial.add(info, nodes[info.uid])
        return fits

    def _in_the_way(self, node: NodeInfo) -> Iterator[tuple[PodInfo, str]]:
        """The potential victims on other nodes that matter for this node, each with its node."""
        # A pod on another node matters only through a topology domain that both nodes share: the
        # domains are the labels that have the same value on both.
        for other in self.snapshot.infos:
            shared = {key for key, value in node.labels.items() if other.labels.get(key) == value}
            if other.name == node.name or not shared:
                continue
            for info in other.pods:
                if self.preemptor.may_go(info) and not shared.isdisjoint(self._topologies(info)):
                    yield info, other.name

    def _topologies(self, info: PodInfo) -> Iterator[str]:
        """The topology keys by which that pod and the preemptor get in each other's way: the
        anti-affinity of either, or the preemptor's spread constraints."""
        pod, namespaces = self.preemptor.pod, self.snapshot.namespaces
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
