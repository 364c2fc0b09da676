"""Pod status: writes conditions, and fields beside them, into the status of a pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from testbed import Client
from testbed.objects import Pod


async def patch_status(
    client: Client, pod: Pod, conditions: Iterable[Mapping[str, Any]], **fields: Any
) -> None:
    """Patch the status of a pod, whatever its revision. Conditions of other types stay. NotFound if
    the pod is gone, Conflict if its name has another uid by now."""
    tree = {
        "metadata": {"uid": pod.meta.uid},
        "status": {**fields, "conditions": [*conditions]},
    }
    await client.patch(pod, tree, how="strategic", subresource="status")
