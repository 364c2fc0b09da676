"""The patch that writes a nomination, to the status or to the annotation (SCH-50)."""

from __future__ import annotations

from typing import Any

from actors.framework.cluster_events import NOMINATED
from actors.scheduler.writes.difference import difference
from testbed.objects import Pod
from testbed.objects.meta import evolved


def nomination_patch(pod: Pod, node: str, storage: str) -> tuple[dict[str, Any], str]:
    """The patch that nominates a pod to a node, empty for none, and the subresource it goes to."""
    if storage == "annotation":
        return {"metadata": {"annotations": {NOMINATED: node or None}}}, ""
    status = evolved(pod.status, nominated_node_name=node)
    return difference(pod, status), "status"
