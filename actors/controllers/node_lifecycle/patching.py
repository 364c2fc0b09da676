"""Patching: writes the taints of a node, if it has not changed since they were worked out."""

from __future__ import annotations

from actors.controllers.node_lifecycle.taints import Swap
from testbed import Client, NotFound
from testbed.objects import Node
from testbed.objects.form import to_tree


async def swap_taints(client: Client, name: str, swap: Swap) -> None:
    """Swap taints of a node, as the server has it now; Conflict if it changes meanwhile. A node
    that is gone, or has changed so already, needs nothing."""
    try:
        node = await client.get(Node, name, "")
        taints = swap.of(node.spec.taints, client.now())
        if taints == node.spec.taints:
            return
        tree = {
            "metadata": {"uid": node.meta.uid, "resourceVersion": node.meta.revision},
            "spec": {"taints": [to_tree(taint) for taint in taints]},
        }
        await client.patch(node, tree)
    except NotFound:
        return
