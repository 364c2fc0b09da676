"""Asking: which of the pods that no scheduler could place ask for room (CA-8 to CA-15).

1. Expendable pods never do. 2. A nominated pod waits for its victims, and is put on its node. 3.
What fits on a node that exists, or on one that is still to come, only waits for its scheduler. 4.
Pods that are too young wait for a later pass.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from actors.framework.cluster_events import NOMINATED as NOMINATED_NODE
from actors.framework.podinfo import PodInfo
from testbed.objects import Pod
from testbed.objects.calendar import whole_second
from testbed.objects.condition import FALSE, find

DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
"""The annotation by which a pod asks for room later than others."""
NEW_MS = 2_000
"""If all pods are younger than this, there are probably more to come (T-45)."""
_UNITS = {"ns": 0, "us": 0, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


def is_unschedulable(pod: Pod) -> bool:
    """Whether a scheduler has tried the pod and found no node for it (CA-2)."""
    if pod.is_bound or pod.is_over:
        return False
    said = find(pod.status.conditions, "PodScheduled")
    return said is not None and said.status == FALSE and said.reason == "Unschedulable"


def is_expendable(pod: Pod, cutoff: int) -> bool:
    """Whether it gives way to everything, and so counts for nothing (CA-9, CA-12)."""
    return pod.spec.priority is not None and pod.spec.priority < cutoff


def is_set_aside(pod: Pod, rule: str, nodes: Collection[str]) -> bool:
    """Whether it asks for no room, because it waits for preemption to make some (CA-10)."""
    node = nominated_node(pod)
    if not node or rule == "never":
        return False
    return rule == "always" or node in nodes


def nominated_node(pod: Pod) -> str:
    """The node that a pod is nominated to, by its status or by the annotation of old versions."""
    return pod.status.nominated_node_name or pod.meta.annotations.get(NOMINATED_NODE, "")


def most_important_first(pods: Iterable[PodInfo]) -> list[PodInfo]:
    """In the order in which they are packed (CA-13)."""
    return sorted(pods, key=lambda pod: -pod.priority)


def is_young(pod: Pod, delay_ms: int, now_ms: int) -> bool:
    """Whether it is not older than the delay, or than its own if that is longer (CA-14)."""
    own_ms = delay_of(pod.meta.annotations.get(DELAY, ""))
    wait_ms = delay_ms if own_ms is None else max(delay_ms, own_ms)
    return now_ms - created_ms(pod) <= wait_ms


def are_all_new(pods: Sequence[Pod], now_ms: int) -> bool:
    """Whether all of them came within the last two seconds: then others probably follow."""
    oldest = min([now_ms, *map(created_ms, pods)])
    return oldest + NEW_MS > now_ms


def created_ms(pod: Pod) -> int:
    """When it was created, in whole seconds, as the object says it."""
    return whole_second(pod.meta.created_ms or 0)


def delay_of(text: str) -> int | None:
    """A delay as annotations have it (`1m30s`), in ms; None if it makes no sense."""
    parts: list[Any] = re.findall(r"([0-9.]+)(ns|us|ms|s|m|h)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    total = 0
    for number, unit in parts:
        whole, _, rest = number.partition(".")
        if not (whole + rest).isdigit() or "." in rest:
            return None
        total += int((whole + rest) or 0) * _UNITS[unit] // 10 ** len(rest)
    return total
