"""Soft taints: unneeded nodes are marked so that pods rather go elsewhere; needed ones are not."""

from __future__ import annotations

from collections.abc import Mapping

from actors.autoscaler.listing_order import Order
from actors.autoscaler.scale_down.actuation.tainting import put_taint, take_taint
from actors.autoscaler.state.readiness import CANDIDATE, TO_BE_DELETED, has_taint
from testbed import ApiError, Client
from testbed.objects import Node

TIME_MS = 3_000
"""How long a pass may take over it."""


async def update_soft_taints(
    client: Client,
    unneeded: Mapping[str, Node],
    needed: Mapping[str, Node],
    calls_max: int,
    order: Order,
) -> None:
    """Take the soft taint off needed nodes, then put it on unneeded ones, as many as a pass has
    calls and time for. What is left over, or fails, is for a later pass."""
    began_ms = client.elapsed()
    marked = [name for name, node in needed.items() if _is_to_change(node, is_put=False)]
    unmarked = [name for name, node in unneeded.items() if _is_to_change(node, is_put=True)]
    if len(marked) > calls_max:
        marked = order("soft taints to take off", marked)
    elif len(marked) + len(unmarked) > calls_max > len(marked):
        unmarked = order("soft taints to put on", unmarked)
    for name in (*marked, *unmarked)[:calls_max]:
        if client.elapsed() - began_ms >= TIME_MS:
            return
        try:
            if name in needed:
                await take_taint(client, needed[name], CANDIDATE)
            else:
                await put_taint(client, unneeded[name], CANDIDATE)
        except ApiError as error:
            client.record("failed", item=name, error=error.reason)


def _is_to_change(node: Node, *, is_put: bool) -> bool:
    """Whether the soft taint is to be put on, or taken off. A node that goes is left alone."""
    return has_taint(node, CANDIDATE) != is_put and not has_taint(node, TO_BE_DELETED)
