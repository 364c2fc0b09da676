"""The two taints by which the autoscaler marks nodes: one it is about to delete, and one it may."""

from __future__ import annotations

import attrs

from actors.autoscaler.state.readiness import CANDIDATE, TO_BE_DELETED, has_taint
from testbed.objects import Node, Taint, number_in
from testbed.objects.affinity import NO_SCHEDULE, PREFER_NO_SCHEDULE

EFFECTS = {TO_BE_DELETED: NO_SCHEDULE, CANDIDATE: PREFER_NO_SCHEDULE}
"""The effect of each."""
SHORT_NAMES = {TO_BE_DELETED: "ToBeDeletedTaint", CANDIDATE: "DeletionCandidateTaint"}
"""What Events call each."""
DELETION_MS = 300_000
"""How long a node counts as being deleted, from the time in its taint."""


def is_going(node: Node, now_ms: int) -> bool:
    """Whether the node was tainted for its deletion in the last five minutes. After that it is
    looked at like any other node (CA-29)."""
    found = next((taint for taint in node.spec.taints if taint.key == TO_BE_DELETED), None)
    if found is None or not _is_whole(found.value):
        return False
    return now_ms - 1000 * number_in(found.value) < DELETION_MS


def tainted(node: Node, key: str, now_ms: int, *, cordon: bool = False) -> Node | None:
    """The node with one of the two taints; None if it has that already. The value of the taint is
    the Unix second. With `cordon`, the node is cordoned as well."""
    if has_taint(node, key):
        return None
    taint = Taint(key, str(now_ms // 1000), EFFECTS[key])
    spec = attrs.evolve(node.spec, taints=(*node.spec.taints, taint))
    if cordon:
        spec = attrs.evolve(spec, unschedulable=True)
    return attrs.evolve(node, spec=spec)


def untainted(node: Node, key: str, *, uncordon: bool = False) -> Node | None:
    """The node without that taint; None if the node does not have it."""
    if not has_taint(node, key):
        return None
    taints = tuple(taint for taint in node.spec.taints if taint.key != key)
    spec = attrs.evolve(node.spec, taints=taints)
    if uncordon:
        spec = attrs.evolve(spec, unschedulable=False)
    return attrs.evolve(node, spec=spec)


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()
