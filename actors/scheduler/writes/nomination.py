"""The patch that writes a nomination, to the status or to the annotation (SCH-50)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.framework.cluster_events import NOMINATED
from actors.scheduler.writes.difference import difference
from testbed.objects import Pod


def nomination_patch(pod: Pod, node: str, storage: str) -> tuple[dict[str, Any], str]:
    """The patch that nominates a pod to a node, empty for none, and the subresource it goes to."""
    if storage == "annotation":
        return {"metadata": {"annotations": {NOMINATED: node or None}}}, ""
    status = attrs.evolve(pod.status, nominated_node_name=node)
    return difference(pod, status), "status"
