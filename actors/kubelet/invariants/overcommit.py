"""What a kubelet has admitted fits its node (INV-7 (a), INV-8 on the node)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.kubelet.invariants.on_nodes import STARTED, News, node_of_record, reports
from actors.kubelet.invariants.together import wrong_with
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD
from testbed.objects import Node, room_of
from testbed.turns.found import Found, Wrong, told
from testbed.turns.trace import Record, Step

ADMITTED, REJECTED = "admitted", "rejected"


class NodesRunWhatFits(Invariant):
    """When a kubelet starts a pod, all pods that take room on its node fit it in every resource and
    in their number, and no two of them take one host port.

    Two cases are left out. A pod that a restarted kubelet has rejected still runs until it has
    stopped, and takes no room (KUB-43). And where a critical pod runs, room was made that may not
    be free yet (KUB-15). What fits is the most that the node ever had: it may shrink afterwards.
    """

    name = "nodes_run_what_fits"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, RECORD})

    def __init__(self) -> None:
        self._news = News()
        self._rooms: dict[str, dict[str, int]] = {}
        """By node, the most that it ever had of each resource."""
        self._rejected: set[tuple[str, str]] = set()
        """The node and the name of each pod that was rejected last."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        if not self._rooms:
            for entry in evidence.store.snapshot("nodes/"):
                self._learn(entry.value)
        for change in evidence.changes:
            for each in (change.old, change.new):
                self._learn(None if each is None else each.value)
        for record in self._news.of(evidence, ADMITTED, REJECTED, STARTED):
            if wrong := self._wrong_after(record, evidence):
                who = record.path.partition("/")[0]
                return told(wrong, record.facts["pod"], actors=who)
        return None

    def _learn(self, node: Any) -> None:
        if isinstance(node, Node):
            most = self._rooms.setdefault(node.meta.name, {})
            for name, amount in room_of(node).items():
                most[name] = max(amount, most.get(name, 0))

    def _wrong_after(self, record: Record, evidence: Evidence) -> Found | None:
        node = node_of_record(evidence, record)
        about = (node, record.facts.get("pod", ""))
        if record.name == REJECTED:
            self._rejected.add(about)
        elif record.name == ADMITTED:
            self._rejected.discard(about)
        if record.name != STARTED or node not in self._rooms:
            return None
        pods = [
            report.pod
            for report in reports(evidence, node)
            if not report.is_torn_down and (node, report.pod.key) not in self._rejected
        ]
        return wrong_with(node, pods, self._rooms[node])
