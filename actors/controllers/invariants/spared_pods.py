"""Pods that taint eviction, pod GC and the descheduler must not delete, or not yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Pod
from testbed.objects.affinity import NO_EXECUTE
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step

CRITICAL = 2_000_000_000


class SparesPods(Invariant):
    """What these claims share: it looks at each pod that one actor begins to delete."""

    reads = frozenset({"log:pods", "log:nodes"})
    breach_reason, breach_fields = FORBIDDEN, ("meta.deleted_ms",)
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self, actor: str) -> None:
        self.actor = actor

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        """Ask of each pod that was just deleted by that actor what is wrong with it."""
        for pod in _deleted_by(self.actor, evidence):
            if wrong := self.wrong_with(pod, evidence):
                node = f"nodes/{pod.spec.node_name}"
                text = f"{self.actor} deletes {pod.key}, {wrong}"
                return Found.of(text, pod, *((node,) if pod.is_bound else ()), actors=self.actor)
        return None

    def wrong_with(self, pod: Pod, evidence: Evidence) -> str:
        """Why that actor may not delete this pod; empty if it may."""
        raise NotImplementedError


class TolerationsAreKept(SparesPods):
    """Taint eviction deletes no pod before its `tolerationSeconds` after the taint are over."""

    name = "tolerations_are_kept"

    def __init__(self, actor: str = "taint-eviction") -> None:
        super().__init__(actor)
        self._since: dict[tuple[str, str], int] = {}
        """By node and key, when the NoExecute taint of that key came to the node."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for entry in evidence.store.snapshot("nodes/"):
            node: Any = entry.value
            for taint in node.spec.taints:
                if taint.effect == NO_EXECUTE:
                    self._since.setdefault((node.meta.name, taint.key), evidence.now_ms)
        return super().look(step, evidence)

    def wrong_with(self, pod: Pod, evidence: Evidence) -> str:
        entry = evidence.store.peek(f"nodes/{pod.spec.node_name}")
        node: Any = None if entry is None else entry.value
        taints = [t for t in node.spec.taints if t.effect == NO_EXECUTE] if node else []
        for taint in taints:
            times = [
                each.toleration_seconds for each in pod.spec.tolerations if each.tolerates(taint)
            ]
            least = min((seconds for seconds in times if seconds is not None), default=None)
            stayed_ms = evidence.now_ms - self._since[node.meta.name, taint.key]
            if not times or (least is not None and stayed_ms >= 1000 * least):
                return ""
        return "which tolerates the taints of its node for longer" if taints else ""


class LiveNodesKeepTheirPods(SparesPods):
    """The pod garbage collector removes no pod that still runs while its node is there."""

    name = "live_nodes_keep_their_pods"

    def __init__(self, actor: str = "pod-gc") -> None:
        super().__init__(actor)

    def wrong_with(self, pod: Pod, evidence: Evidence) -> str:
        is_there = evidence.store.peek(f"nodes/{pod.spec.node_name}") is not None
        return "whose node is there" if is_there and pod.spec.node_name else ""


class ImportantPodsStay(SparesPods):
    """No system-critical pod is evicted by the descheduler."""

    name = "important_pods_stay"

    def __init__(self, actor: str = "descheduler") -> None:
        super().__init__(actor)

    def wrong_with(self, pod: Pod, evidence: Evidence) -> str:
        return f"of priority {pod.priority}" if pod.priority >= CRITICAL else ""


def _deleted_by(actor: str, evidence: Evidence) -> Iterator[Pod]:
    """The pods, as they were, that this actor has just begun to delete."""
    request = evidence.served
    if request is None or request.role.name != actor:
        return
    for change in evidence.changes:
        old: Any = change.before
        new: Any = change.after
        is_going = new is None or new.meta.is_terminating
        if isinstance(old, Pod) and not old.meta.is_terminating and is_going:
            yield old
