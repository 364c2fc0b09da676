"""The taint `CriticalAddonsOnly`: keeps other pods off a node on which room was made (CTL-53)."""

from __future__ import annotations

from collections.abc import Collection

from testbed import ApiError, Client
from testbed.objects import Node, Pod, Taint
from testbed.objects.affinity import tolerated
from testbed.objects.form import to_tree

TAINT = Taint("CriticalAddonsOnly", "", "NoSchedule")
FOR_MS_MAX = 10 * 60_000
"""The node is free for others again after this time, whatever became of the pod."""


def may_guard(pod: Pod) -> bool:
    """Whether the taint would keep others off, but not this pod."""
    return tolerated(TAINT, pod.spec.tolerations)


async def guard(client: Client, nodes: Collection[Node], guarded: Collection[str]) -> bool:
    """Taint the nodes that are to be guarded, and remove the taint from all others. Whether all of
    them are as they should be; what fails is for the next scan."""
    is_done = True
    for node in nodes:
        has = any(taint.key == TAINT.key for taint in node.spec.taints)
        if has is not (node.meta.name in guarded):
            is_done = await _set(client, node, is_on=not has) and is_done
    return is_done


async def _set(client: Client, node: Node, *, is_on: bool) -> bool:
    taints = [taint for taint in node.spec.taints if taint.key != TAINT.key]
    tree = {
        "metadata": {"uid": node.meta.uid, "resourceVersion": node.meta.revision},
        "spec": {"taints": [to_tree(taint) for taint in (*taints, *([TAINT] if is_on else []))]},
    }
    try:
        await client.patch(node, tree)
    except ApiError as error:
        client.record("taint not set", node=node.meta.name, error=error.reason)
        return False
    client.record("guards" if is_on else "frees", node=node.meta.name)
    return True
