"""No DaemonSet pod of YuniKorn waits for room that is there, or that can be made (INV-24)."""

from __future__ import annotations

from typing import Any

from actors.yunikorn.invariants.looks import (
    Sums,
    cores,
    heard_cores,
    is_theirs,
    live_pods,
    node_required_by,
    size_of,
    total,
)
from testbed import Evidence, Invariant
from testbed.objects import Node, Pod, room_of
from testbed.turns.found import MISSING, Found, Wrong


class RequiredAsksAreServed(Invariant):
    """At rest no DaemonSet pod of YuniKorn waits on a node that has room for it. With `victims`,
    none waits either if preemption could make room for it: the other pods of YuniKorn there, of no
    higher priority, could go. Claim that only where no delete fails, and no other scheduler takes
    the room that was made. Limits of queues are not looked at."""

    breach_reason = MISSING

    def __init__(self, *, victims: bool = False) -> None:
        self.name = "yunikorn_victims_make_room" if victims else "yunikorn_room_is_given"
        self._victims = victims

    def end(self, evidence: Evidence) -> Wrong:
        if len(list(heard_cores(evidence))) < len(list(cores(evidence))):
            return None
        pods = live_pods(evidence)
        for pod in pods:
            name = node_required_by(pod) if is_theirs(pod) and not pod.is_bound else ""
            entry: Any = evidence.store.peek(f"nodes/{name}") if name else None
            if entry is None or pod.meta.is_terminating:
                continue
            left = self._left(entry.value, pod, pods)
            if all(left.get(kind, 0) >= amount for kind, amount in size_of(pod).items()):
                how = " if others go" if self._victims else ""
                text = f"{pod.key} waits for {name}, which has room for it{how}"
                return Found.of(text, pod, entry.value, fields="spec.node_name")
        return None

    def _left(self, node: Node, pod: Pod, pods: list[Pod]) -> Sums:
        """What is left of the node beside the pods that may stay."""
        here = [each for each in pods if each.spec.node_name == node.meta.name]
        stay = [each for each in here if not (self._victims and self._may_go(each, pod))]
        held = total(size_of(each) for each in stay)
        return {kind: amount - held.get(kind, 0) for kind, amount in room_of(node).items()}

    @staticmethod
    def _may_go(each: Pod, ask: Pod) -> bool:
        return is_theirs(each) and not node_required_by(each) and each.priority <= ask.priority
