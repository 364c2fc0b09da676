"""Draining: the pods of a node are evicted, and awaited until they are gone (CA-29).

1. Evict them all at once, each in a task of its own. 2. If one of them could not be evicted, give
up; the others stay evicted. 3. Look every five seconds whether all are gone. Daemon pods are
evicted too, but not awaited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.autoscaler.scale_down.actuation.eviction import Patience, daemons_to_evict, evict_pod
from actors.autoscaler.scale_down.actuation.surroundings import Surroundings
from actors.shared.critical import is_mirror
from actors.shared.daemon_pods import is_daemon_pod
from testbed import ApiError, NotFound
from testbed.objects import Pod

RETRY_MS = 10_000
"""How long after a refusal an eviction is asked for again."""
DAEMON_RETRY_MS, DAEMONS_MS = 3_000, 10_000
"""The same for daemon pods of an empty node, and how long these are tried in all."""
HEADROOM_MS = 30_000
"""How long pods are still awaited after the longest grace: one may have to be killed."""
POLL_MS = 5_000
LATE_MS = 5_000
"""How long answers to evictions are still awaited after their time is over."""


def pods_to_evict(around: Surroundings, pods: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
    """Of the pods on a node that is drained: those that must be gone, and the daemon pods that are
    evicted beside them."""
    mine = [pod for pod in pods if not is_mirror(pod)]
    usually = around.settings.daemonset_eviction_for_occupied_nodes
    daemons = daemons_to_evict((pod for pod in mine if is_daemon_pod(pod)), usually=usually)
    return [pod for pod in mine if not is_daemon_pod(pod)], daemons


async def drain_node(around: Surroundings, node: str, on_it: Sequence[Pod]) -> str:
    """Empty a node of these pods; returns what is amiss, or nothing."""
    client, settings = around.client, around.settings
    pods, daemons = pods_to_evict(around, on_it)
    until_ms = client.elapsed() + settings.max_pod_eviction_time_ms
    patience = Patience(RETRY_MS, until_ms)
    tasks = _evict_all(around, pods, patience)
    daemon_tasks = _evict_all(around, daemons, patience)
    for task in (*tasks, *daemon_tasks):
        left_ms = max(until_ms + LATE_MS - client.elapsed(), 0)
        await client.first(client.join(task), client.sleep(left_ms, f"await evictions on {node}"))
    if not all(task.has_ended for task in tasks):
        return f"Failed to drain node /{node}: timeout when waiting for creating evictions"
    errors = [error for task in tasks if (error := await client.join(task))]
    if errors:
        return f"Failed to drain node /{node}, due to following errors: [{' '.join(errors)}]"
    return await _await_end(around, node, pods)


async def evict_daemons(around: Surroundings, daemons: Sequence[Pod]) -> None:
    """Evict the daemon pods of an empty node, if the settings or they themselves say so. They are
    awaited for a while; a failure does not matter."""
    client, usually = around.client, around.settings.daemonset_eviction_for_empty_nodes
    patience = Patience(DAEMON_RETRY_MS, client.elapsed() + DAEMONS_MS)
    left = _evict_all(around, daemons_to_evict(daemons, usually=usually), patience)
    while left:
        joins = [client.join(task) for task in left]
        which, _ = await client.first(*joins, client.sleep(DAEMONS_MS, "await daemon pods"))
        if which == len(left):
            return
        left.pop(which)


def _evict_all(around: Surroundings, pods: Sequence[Pod], patience: Patience) -> list[Any]:
    spawn = around.client.spawn
    return [spawn(f"evict-{pod.meta.name}", evict_pod, around, pod, patience) for pod in pods]


async def _await_end(around: Surroundings, node: str, pods: Sequence[Pod]) -> str:
    """Look until all pods are gone from the node, or have had their time."""
    client, began_ms = around.client, around.client.elapsed()
    most_ms = around.settings.max_graceful_termination_ms + HEADROOM_MS
    while client.elapsed() - began_ms < most_ms:
        if await _are_gone(around, node, pods):
            return ""
        await client.sleep(POLL_MS, f"look for pods on {node}")
    return f"Failed to drain node /{node}: pods remaining after timeout"


async def _are_gone(around: Surroundings, node: str, pods: Sequence[Pod]) -> bool:
    for pod in pods:
        try:
            there = await around.client.get(Pod, pod.meta.name, pod.meta.namespace)
        except NotFound:
            continue
        except ApiError:
            return False
        if there.spec.node_name == node:
            return False
    return True
