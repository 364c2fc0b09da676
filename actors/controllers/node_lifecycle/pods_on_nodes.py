"""Pods on nodes: the pods of a Cache by their nodes, kept up to date change by change."""

from __future__ import annotations

from testbed import Cache
from testbed.objects import Pod


class PodsOnNodes:
    """An index that every change updates: what is done about a node costs what its pods cost."""

    def __init__(self, pods: Cache[Pod]) -> None:
        self._by_node: dict[str, dict[str, Pod]] = {}
        pods.on(add=self._put, update=self._change, delete=self._drop)

    def on(self, node: str) -> list[Pod]:
        """The pods that are bound to a node, in order of their keys."""
        found = self._by_node.get(node, {})
        return [found[key] for key in sorted(found)]

    def _put(self, pod: Pod) -> None:
        if pod.spec.node_name:
            self._by_node.setdefault(pod.spec.node_name, {})[pod.key] = pod

    def _drop(self, pod: Pod) -> None:
        found = self._by_node.get(pod.spec.node_name)
        if found is not None:
            found.pop(pod.key, None)
            if not found:
                del self._by_node[pod.spec.node_name]

    def _change(self, old: Pod, new: Pod) -> None:
        self._drop(old)
        self._put(new)
