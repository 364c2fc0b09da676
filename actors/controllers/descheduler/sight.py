"""Sight: the cluster as one strategy sees it; taken when the strategy begins, and not refreshed.

What a strategy evicts, what others create and what the scheduler binds meanwhile is not in it. So a
strategy may go on by what is no longer true, as that of Kubernetes does.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from actors.controllers.descheduler.policy import DeschedulerPolicy
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PODS, PodInfo, info_of
from actors.shared.critical import is_critical
from testbed.objects import Node, Pod, qos_of
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED

QOS = (BEST_EFFORT, BURSTABLE, GUARANTEED)
"""The QoS classes, the least important first."""
Evictions = Generator[Pod, bool, None]
"""What a strategy is: it yields the pods that it wants evicted, and is told of each whether it
was."""


class Sight:
    """Nodes, and the pods on them that have not ended."""

    def __init__(
        self, nodes: Iterable[Node], pods: Iterable[Pod], policy: DeschedulerPolicy
    ) -> None:
        self.policy = policy
        self.infos = {node.meta.name: NodeInfo(node.meta.name, node) for node in nodes}
        """The nodes that are ready, by name."""
        self.over: dict[str, list[Pod]] = {}
        """By node, its pods that have ended."""
        for pod in pods:
            node = self.infos.get(pod.spec.node_name)
            if node is None:
                continue
            if pod.is_over:
                self.over.setdefault(node.name, []).append(pod)
            else:
                node.add(info_of(pod))

    @property
    def nodes(self) -> list[Node]:
        """Its nodes, by name."""
        return [info.node for info in self.infos.values() if info.node is not None]

    def pods_on(self, node: str) -> list[Pod]:
        """The pods on a node that have not ended, in order of their keys."""
        return [info.pod for info in self.infos[node].pods]

    def may_evict(self, pod: Pod) -> bool:
        """Whether a pod may be evicted at all (CTL-57); with `node_fit`, only if it fits on another
        node."""
        return self.is_evictable(pod) and (not self.policy.node_fit or self.fits_elsewhere(pod))

    def is_evictable(self, pod: Pod) -> bool:
        """Whether something will create the pod again, and it is not too important."""
        kinds = [owner.kind for owner in pod.meta.owners]
        is_spared = not kinds or "DaemonSet" in kinds or pod.meta.is_terminating
        return (
            not is_spared and not is_critical(pod) and pod.priority < self.policy.threshold_priority
        )

    def fits_elsewhere(self, pod: Pod) -> bool:
        """Whether the pod fits on a node other than its own."""
        info = info_of(pod)
        others = (node for node in self.infos.values() if node.name != pod.spec.node_name)
        return any(_fits(info, node) for node in others)

    def fits_anywhere(self, pod: Pod) -> bool:
        """Whether the pod fits on any node, its own among them."""
        info = info_of(pod)
        return any(_fits(info, node) for node in self.infos.values())


def _fits(pod: PodInfo, info: NodeInfo) -> bool:
    """Whether a pod fits on a node, by some of the scheduler's rules: neither spread nor the
    anti-affinity of others counts, and its own only against pods on the same node."""
    node = info.node
    if node is None or node.spec.unschedulable or not pod.may_be_on(node):
        return False
    if pod.repelled_by(node.spec.taints) is not None or _is_shunned(pod, info):
        return False
    is_here = pod.pod.spec.node_name == info.name
    return is_here or all(info.left(name) >= amount for name, amount in pod.taken.items())


def _is_shunned(pod: PodInfo, info: NodeInfo) -> bool:
    """Whether the pod has anti-affinity with a pod on that node."""
    others = [other for other in info.pods if other.uid != pod.uid]
    terms = [term for term in pod.anti_affinity if term.topology_key in info.labels]
    return any(term.matches(other, {}) for term in terms for other in others)


def usage(info: NodeInfo, names: Iterable[str]) -> dict[str, int]:
    """How much of each of these resources the pods of a node request."""
    return {name: len(info.pods) if name == PODS else info.requested.get(name, 0) for name in names}


def eviction_order(pod: Pod) -> tuple[int, int, str]:
    """The order in which pods of one node go: by priority, then by QoS class."""
    return pod.priority, QOS.index(qos_of(pod.spec)), pod.key
