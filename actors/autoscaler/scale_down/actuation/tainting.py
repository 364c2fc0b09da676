"""Tainting: a taint is put on a node, or taken off, by an update of what was last known of it.

If the node has changed since, the update meets a conflict. Then the node is read and written again,
for five seconds. The same is done if the node is already as it should be, since what is known of it
may be old.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.autoscaler.scale_down.taints import tainted, untainted
from testbed import Client
from testbed.errors import Conflict
from testbed.objects import Node
from testbed.turns.because import Because

RETRY_MS, RETRIES_MS = 750, 5_000
"""How long after a conflict it tries again, and for how long it does."""
Change = Callable[[Node], Node | None]
"""Changes a node; None if there is nothing to change."""


async def put_taint(
    client: Client, node: Node, key: str, *, cordon: bool = False, because: Because | None = None
) -> bool:
    """Put one of the two taints on a node; returns whether it was not there. An ApiError if that
    fails."""

    def change(it: Node) -> Node | None:
        return tainted(it, key, client.now(), cordon=cordon)

    return await _write(client, node, change, because)


async def take_taint(client: Client, node: Node, key: str, *, uncordon: bool = False) -> bool:
    """Take a taint off a node; returns whether it was there. An ApiError if that fails."""
    return await _write(client, node, lambda it: untainted(it, key, uncordon=uncordon))


async def _write(
    client: Client, node: Node, change: Change, because: Because | None = None
) -> bool:
    began_ms, is_fresh = client.elapsed(), False
    while True:
        new = change(node)
        if new is None and is_fresh:
            return False
        if new is not None:
            try:
                await client.update(new, because=because)
            except Conflict:
                if client.elapsed() - began_ms >= RETRIES_MS:
                    raise
                await client.sleep(RETRY_MS, f"taint {node.meta.name} again")
            else:
                return True
        node, is_fresh = await client.get(Node, node.meta.name), True
