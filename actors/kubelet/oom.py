"""OOM: which pods the kernel of a node kills at the instant that memory runs out (KUB-40).

All of it is pure: the Runtime says what runs and how much memory that uses. The kernel belongs to
the node and not to its kubelet, so it also kills while the kubelet is down or cut off.

Left out: swap, and the kill of one process or container alone. A pod is one process here.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from actors.shared.critical import is_critical
from testbed.objects import Pod
from testbed.objects.pod import BEST_EFFORT, GUARANTEED, qos_of

MEMORY = "memory"
NODE_CRITICAL = "system-node-critical"
"""The PriorityClass of the pods that a node needs."""
ADJ_GUARANTEED, ADJ_BEST_EFFORT = -997, 1000
"""What 1.26 adds to the score, in thousandths of the capacity. The kubelet itself has -999."""
ADJ_BURSTABLE_MIN, ADJ_BURSTABLE_MAX = 1000 + ADJ_GUARANTEED, ADJ_BEST_EFFORT - 1
"""Burstable pods stay between the other two classes, whatever they request."""


@attrs.frozen
class NodeMemory:
    """The memory of a node."""

    capacity: int
    """How much there is."""
    system: int = 0
    """How much of it is used beside pods; what uses it is never killed."""


@attrs.frozen
class Process:
    """All containers of one pod that runs: they are killed together."""

    pod: Pod
    used: int
    """How much memory they use."""


@attrs.frozen
class OomScore:
    """The score of a process, as it is told: in thousandths of the capacity, rounded down."""

    pod: str
    """The key of its pod."""
    usage: int
    """What it uses."""
    adj: int
    """The `oom_score_adj` of its pod."""

    @property
    def total(self) -> int:
        """The score."""
        return self.usage + self.adj


@attrs.frozen
class OomKill:
    """One pod whose containers the kernel kills."""

    pod: Pod
    used: int
    """How much memory they would use from that instant on."""
    is_system: bool
    """Whether memory ran out on the node; else the pod has passed its own limit."""
    at_ms: int
    """The instant of the kill."""
    score: OomScore | None = None
    """Its score, the highest of all; None: it has passed its own limit, whatever its score."""
    runner_up: OomScore | None = None
    """Which process would have been next; None if no other uses memory, or no score counted."""

    @property
    def why(self) -> str:
        """Why the kernel has killed this one."""
        if self.score is None:
            return f"it would use {self.used}, more than its own limit"
        found = self.score
        why = f"its score was {found.total} (usage {found.usage}, oom_score_adj {found.adj})"
        after = self.runner_up
        return why if after is None else f"{why}, and next was {after.pod} with {after.total}"


def killed(processes: Iterable[Process], memory: NodeMemory, at_ms: int) -> list[OomKill]:
    """What the kernel kills at an instant, in order. 1. What has passed its own limit. 2. While
    more is used than there is: of the rest, the process of the highest score."""
    kills, left = [], []
    for each in processes:
        limit = limit_of(each.pod)
        if limit is not None and each.used > limit:
            kills.append(OomKill(each.pod, each.used, False, at_ms))
        elif each.used:
            # What uses nothing is passed over, although it may have the highest score: to kill it
            # would bring nothing.
            left.append(each)
    left.sort(key=lambda each: (-oom_score(each, memory), each.pod.key, each.pod.meta.uid))
    while left and sum(each.used for each in left) > memory.capacity - memory.system:
        worst = left.pop(0)
        runner_up = score_told(left[0], memory) if left else None
        score = score_told(worst, memory)
        kills.append(OomKill(worst.pod, worst.used, True, at_ms, score, runner_up))
    return kills


def score_told(process: Process, memory: NodeMemory) -> OomScore:
    """The score of a process, with its parts."""
    usage = process.used * 1000 // memory.capacity
    return OomScore(process.pod.key, usage, oom_score_adj(process.pod, memory.capacity))


def oom_score(process: Process, memory: NodeMemory) -> int:
    """The score of a process: what it uses, in thousandths of the capacity, plus the adjustment of
    its pod. Multiplied by the capacity, so that it is a whole number."""
    adj = oom_score_adj(process.pod, memory.capacity)
    return process.used * 1000 + adj * memory.capacity


def oom_score_adj(pod: Pod, capacity: int) -> int:
    """The `oom_score_adj` that a kubelet gives the processes of a pod, as 1.26 does."""
    if is_critical(pod) and pod.spec.priority_class_name == NODE_CRITICAL:
        return ADJ_GUARANTEED
    qos = qos_of(pod.spec)
    if qos == GUARANTEED:
        return ADJ_GUARANTEED
    if qos == BEST_EFFORT:
        return ADJ_BEST_EFFORT
    asked = sum(
        each.resources.requests[MEMORY].whole
        for each in pod.spec.containers
        if MEMORY in each.resources.requests
    )
    adj = 1000 - 1000 * asked // capacity
    return min(max(adj, ADJ_BURSTABLE_MIN), ADJ_BURSTABLE_MAX)


def limit_of(pod: Pod) -> int | None:
    """How much memory the containers of a pod may use together; None if one has no limit."""
    limits = [each.resources.limits.get(MEMORY) for each in pod.spec.containers]
    known = [each.whole for each in limits if each is not None]
    return sum(known) if known and len(known) == len(limits) else None
