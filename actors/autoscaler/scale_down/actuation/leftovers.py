"""Leftovers: taints that an earlier life has put on nodes, and did not live to take off."""

from __future__ import annotations

from actors.autoscaler.scale_down.actuation.surroundings import Surroundings
from actors.autoscaler.scale_down.actuation.tainting import take_taint
from actors.autoscaler.scale_down.taints import SHORT_NAMES
from actors.autoscaler.state.readiness import CANDIDATE, TO_BE_DELETED, has_taint
from testbed import ApiError
from testbed.objects import Node
from testbed.objects.event import WARNING

CLEANUP = "ClusterAutoscalerCleanup"


async def clean_leftovers(around: Surroundings) -> None:
    """Take off all ToBeDeleted taints, once in a life, before its first pass: why they were put
    there is forgotten. The soft ones stay, unless they are switched off (CA-31)."""
    keys = [TO_BE_DELETED]
    if not around.settings.max_bulk_soft_taint_count:
        keys.append(CANDIDATE)
    marked = [(node, key) for key in keys for node in around.nodes() if has_taint(node, key)]
    for node, key in marked:
        await _clean(around, node, key)
    if marked:
        # The pass that follows lists from the Caches, which have mostly heard of it by then.
        await around.client.sleep(0, "hear of clean nodes")


async def _clean(around: Surroundings, node: Node, key: str) -> None:
    what, name = SHORT_NAMES[key], node.meta.name
    uncordon = key == TO_BE_DELETED and around.settings.cordon_node_before_terminating
    try:
        if await take_taint(around.client, node, key, uncordon=uncordon):
            around.announcer.note(node, CLEANUP, f"removed {what} taint from node {name}")
    except ApiError as error:
        around.announcer.note(
            node, CLEANUP, f"failed to clean {what} on node {name}: {error}", WARNING
        )
