"""TaintToleration: a tainted node takes only pods that tolerate its taints."""

from __future__ import annotations

from collections.abc import Hashable

from actors.framework.filter import NodeFilter, State
from actors.framework.nodeinfo import NodeInfo
from actors.framework.refusal import Refusal
from testbed.objects import Node


class TaintTolerationFilter(NodeFilter):
    """Refuses nodes with a NoSchedule or NoExecute taint that the pod does not tolerate."""

    name = "TaintToleration"

    def kind(self, node: Node) -> Hashable:
        return node.spec.taints

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        taints = node.node.spec.taints if node.node is not None else ()
        taint = state.repelled_by(taints) if taints else None
        if taint is None:
            return None
        reason = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        return self.no(reason, is_resolvable=False)
