"""What must hold of a cloud and of the Nodes of its machines; it asks no controller what it thinks.

May use: nothing beside it.
In order: siblings, __init__.
"""

from __future__ import annotations

from actors.cloud.invariants.nodes_follow import NodesFollowMachines
from testbed import Invariant

__all__ = ["NodesFollowMachines", "cloud_claims"]


def cloud_claims() -> tuple[Invariant, ...]:
    """The claims about a cloud, for a World that has joined one: `world.claim(*cloud_claims())`.
    They hold whatever strikes, once it is over: an actor that stays dead does no work."""
    return (NodesFollowMachines(),)
