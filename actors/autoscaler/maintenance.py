"""Maintenance: what a pass mends in the cloud before it looks at pods (CA-5, CA-6, CA-7)."""

from __future__ import annotations

from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.scale_up.scale_up import PassFailed
from testbed import ApiError


async def remove_unregistered(memory: AutoscalerMemory, now_ms: int) -> None:
    """Delete the instances that have had no Node object for too long, down to the minimum of their
    group; the pass goes on (CA-5)."""
    state, announcer = memory.state, memory.announcer
    for name, missing in sorted(state.unregistered.items()):
        group = memory.cloud.group(missing.group)
        if not state.is_long_unregistered(name, now_ms) or group is None:
            continue
        if group.min_size >= group.target:
            continue
        try:
            await memory.cloud.delete_nodes(group.name, (name,))
        except ApiError as error:
            announcer.warn("DeleteUnregisteredFailed", f"Failed to remove node {name}: {error}")
            return
        finally:
            memory.cloud.forget_instances(group.name)
        announcer.say("DeleteUnregistered", f"Removed unregistered node {name}")


async def remove_failed(memory: AutoscalerMemory) -> bool:
    """Delete the instances that could not be created. Returns whether anything was deleted: that
    ends the pass (CA-7)."""
    has_deleted = False
    for group, names in memory.state.failed_instances().items():
        try:
            await memory.cloud.delete_nodes(group, names)
            has_deleted = True
        except ApiError as error:
            memory.client.record("not deleted", group=group, nodes=names, error=error.reason)
        memory.cloud.forget_instances(group)
    return has_deleted


async def mend_sizes(memory: AutoscalerMemory, now_ms: int) -> bool:
    """Lower the targets of groups that have had too few nodes for too long, whatever their minimum.
    Returns whether anything was mended: that ends the pass (CA-6)."""
    has_mended = False
    for name, wrong in memory.state.wrong_sizes.items():
        group = memory.cloud.group(name)
        is_old = wrong.since_ms + memory.settings.max_node_provision_time_ms < now_ms
        if group is None or not is_old or wrong.registered >= wrong.target:
            continue
        try:
            await memory.cloud.decrease(group, wrong.target - wrong.registered)
        except ApiError as error:
            raise PassFailed(f"failed to decrease {name}: {error}") from error
        has_mended = True
    return has_mended
