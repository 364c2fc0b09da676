"""OOM kills: where the kernel kills, no node runs out of memory, and the right pods go (KUB-40)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.kubelet.containers import Report
from actors.kubelet.invariants.on_nodes import kubelets, reports, runtime_at
from actors.kubelet.oom import OomKill
from actors.kubelet.runtime import Runtime
from actors.kubelet.switches import SCORE
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD
from testbed.objects import Node, Pod, requests_of
from testbed.objects.meta import key_of
from testbed.objects.pod import BEST_EFFORT, GUARANTEED, qos_of
from testbed.turns.found import FORBIDDEN, TOO_MANY, Found, Wrong
from testbed.turns.trace import Step

MEMORY = "memory"


class NodesStayWithinMemory(Invariant):
    """Under `oom_model=score`, what runs on a node and its system never use more memory than the
    node has. And when the kernel kills a pod for that, no pod runs that had to go before it.

    That is judged of pods that ran before that instant, and of the memory that the node had at
    most: the figures of its object may change, those of the machine do not.
    """

    name = "nodes_stay_within_memory"
    breach_reason = TOO_MANY
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, RECORD})

    def __init__(self) -> None:
        self._kubelets: list[tuple[str, Any]] | None = None
        """The nodes whose kernel kills, with the roles of their kubelets; None: not known yet."""
        self._has: dict[str, int] = {}
        """By node, the most memory that it ever had."""
        self._seen: dict[str, int] = {}
        """By node, how many kills were looked at."""
        self._pods: dict[str, Pod] = {}
        """By uid, the pods with the annotations that they had at the last look."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        if self._kubelets is None:
            self._kubelets = [(node, role) for node, role in kubelets(evidence)
                              if role.switches.oom_model == SCORE]  # fmt: skip
        for node, role in self._kubelets:
            runtime = runtime_at(evidence, node)
            if runtime is None:
                continue
            self._learn(node, evidence)
            running = [each for each in reports(evidence, node) if each.is_running]
            system = role.actor.system_memory
            wrong = self._wrong_on(node, runtime, running, system, evidence.now_ms)
            self._pods.update((each.pod.meta.uid, each.pod) for each in running)
            if wrong:
                return wrong
        return None

    def _learn(self, node: str, evidence: Evidence) -> None:
        entry: Any = evidence.store.peek(f"nodes/{node}")
        has = None if entry is None else entry.value.status.capacity.get(MEMORY)
        if has is not None:
            self._has[node] = max(has.whole, self._has.get(node, 0))

    def _wrong_on(
        self, node: str, runtime: Runtime, running: list[Report], system: int, now_ms: int
    ) -> Found | None:
        """What is wrong on a node with what runs there; None if nothing is."""
        has = self._has.get(node)
        if has is None:
            return None
        used = _used(runtime, running, now_ms)
        total = sum(used.values())
        if total and total + system > has:
            text = f"{node} has memory {has}, and {total + system} of it is used"
            return Found.of(text, key_of(Node, node), *(each.pod for each in running))
        kills = runtime.ooms(now_ms).kills
        new, self._seen[node] = kills[self._seen.get(node, 0) :], len(kills)
        # A kill of an earlier instant can no longer be judged: what uses memory may have changed.
        for kill in (each for each in new if each.is_system and each.at_ms == now_ms):
            if spared := self._spared(kill, running, used, has):
                text = f"on {node} the kernel killed {kill.pod.key} before {spared.key}"
                return Found.of(text, kill.pod, spared, key_of(Node, node), reason=FORBIDDEN)
        return None

    def _spared(
        self, kill: OomKill, running: list[Report], used: dict[str, int], has: int
    ) -> Pod | None:
        """A pod that runs on, and had to go before the one that was killed; None if all is right.
        One that was just started, or has just read other annotations, is not compared."""
        badness = _badness(kill.pod, kill.used, has)
        for each in running:
            uid = each.pod.meta.uid
            is_same = self._pods.get(uid) == each.pod and each.started_ms < kill.at_ms
            if is_same and used[uid] and _badness(each.pod, used[uid], has) > badness:
                return each.pod
        return None


def _used(runtime: Runtime, running: list[Report], now_ms: int) -> dict[str, int]:
    """By uid, how much memory these pods use; 0 if that is unknown."""
    stats = runtime.stats(now_ms).pods
    amounts = {each.pod.meta.uid: stats[each.pod.meta.uid].amounts for each in running}
    return {uid: 0 if found is None else found.get(MEMORY, 0) for uid, found in amounts.items()}


def _badness(pod: Pod, used: int, has: int) -> float:
    """How much a process is to be killed, in thousandths of the node's memory, told plainly."""
    if qos_of(pod.spec) == GUARANTEED or pod.spec.priority_class_name == "system-node-critical":
        return 1000 * used / has - 997
    if qos_of(pod.spec) == BEST_EFFORT:
        return 1000 * used / has + 1000
    spared = 1000 * requests_of(pod).get(MEMORY, 0) // has
    return 1000 * used / has + max(3, min(999, 1000 - spared))
