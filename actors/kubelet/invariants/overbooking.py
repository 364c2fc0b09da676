"""No node is overbooked, but by schedulers that do not know of each other (INV-7 (b), INV-8)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.kubelet.invariants.on_nodes import is_reachable, kubelets
from actors.kubelet.invariants.together import wrong_with
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Node, Pod, room_of
from testbed.objects.affinity import PodAffinityTerm
from testbed.turns.trace import Step

RACE = "scheduler_race"
Binder = tuple[str, int]
"""An actor and which of its lives; an empty name for what was there from the start."""


class NodesAreNotOverbooked(Invariant):
    """When a pod is bound, the pods of its node that are not over fit it, share no host port and
    keep apart from each other if they must. What somebody creates with a node is not judged.

    A scheduler with a pod missing in its cache may break that (`scheduler_race`). It is allowed,
    and noted, in three cases: several actors, or several lives of one, have bound or created the
    pods there; a bind was answered as failed, and has taken effect; or the node has shrunk. At
    rest, each kubelet that can be reached has rejected what does not fit its node. A kubelet does
    not check anti-affinity.
    """

    name = "nodes_are_not_overbooked"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._binders: dict[str, Binder] = {}
        """By uid, who has bound the pod, or created it bound."""
        self._shrunk: set[str] = set()
        self._races: dict[str, None] = {}

    @property
    def note(self) -> str:
        return "; ".join(f"{RACE}: {each}" for each in self._races)

    @property
    def allowed(self) -> str:
        return RACE if self._races else ""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        request = evidence.served
        for change in evidence.changes:
            old: Any = None if change.old is None else change.old.value
            new: Any = None if change.new is None else change.new.value
            if isinstance(old, Node) and not _has_all(new, old):
                self._shrunk.add(old.meta.name)
            was_bound = isinstance(old, Pod) and old.is_bound
            if not isinstance(new, Pod) or not new.is_bound or was_bound:
                continue
            if request is None:
                continue
            self._binders[new.meta.uid] = (request.role.name, request.life.number)
            is_bind = request.operation.subresource == "binding"
            if breach := self._judge(evidence, new) if is_bind else "":
                return breach
        return None

    def _judge(self, evidence: Evidence, new: Pod) -> str:
        """What is wrong with having bound this pod, unless it is a race of schedulers."""
        node = new.spec.node_name
        wrong = _wrong_on(evidence, node) or _too_near(evidence, new)
        if not wrong:
            return ""
        pods = [pod for pod in _active(evidence) if pod.spec.node_name == node]
        binders = {self._binders.get(pod.meta.uid, ("", 0)) for pod in pods} - {("", 0)}
        if len(binders) > 1 or node in self._shrunk or _had_failed(evidence, pods):
            self._races[wrong] = None
            return ""
        return f"{wrong}, all by {next(iter(binders), ('one actor', 0))[0]}"

    def end(self, evidence: Evidence) -> str | None:
        for node, role in kubelets(evidence):
            wrong = _wrong_on(evidence, node) if is_reachable(evidence, role) else ""
            if wrong and node not in self._shrunk:
                return f"{wrong}, and {role.name} has rejected none of them"
        return None


def _active(evidence: Evidence) -> list[Pod]:
    """The pods that are bound and not over."""
    pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
    return [pod for pod in pods if pod.is_bound and not pod.is_over]


def _wrong_on(evidence: Evidence, node: str) -> str:
    entry: Any = evidence.store.peek(f"nodes/{node}")
    if entry is None:
        return ""
    pods = [pod for pod in _active(evidence) if pod.spec.node_name == node]
    return wrong_with(node, pods, room_of(entry.value))


def _has_all(new: Any, old: Node) -> bool:
    """Whether a node has at least what it had."""
    if not isinstance(new, Node):
        return False
    room = room_of(new)
    return all(room.get(name, 0) >= amount for name, amount in room_of(old).items())


def _had_failed(evidence: Evidence, pods: list[Pod]) -> bool:
    """Whether a scheduler was told that the bind of one of them had failed (SCH-65)."""
    keys = {pod.key for pod in pods}
    return any(r.name == "forgot" and r.facts.get("pod") in keys for r in evidence.records)


def _too_near(evidence: Evidence, new: Pod) -> str:
    """Which pods are too near to each other for the anti-affinity of one (INV-8); empty: none."""
    for other in _active(evidence):
        if other.meta.uid == new.meta.uid:
            continue
        for one, two in ((new, other), (other, new)):
            affinity = one.spec.affinity
            anti = None if affinity is None else affinity.pod_anti_affinity
            for term in () if anti is None else anti.required:
                if _means(term, one, two) and _are_near(evidence, term, one, two):
                    return f"{one.key} must be apart from {two.key}, by {term.topology_key}"
    return ""


def _means(term: PodAffinityTerm, one: Pod, two: Pod) -> bool:
    """Whether the term of one pod matches the other. Terms over selected namespaces are left out:
    the labels of a namespace may change."""
    if term.namespace_selector is not None or term.label_selector is None:
        return False
    spaces = term.namespaces or (one.meta.namespace,)
    return two.meta.namespace in spaces and term.label_selector.matches(two.meta.labels)


def _are_near(evidence: Evidence, term: PodAffinityTerm, one: Pod, two: Pod) -> bool:
    values = []
    for pod in (one, two):
        entry: Any = evidence.store.peek(f"nodes/{pod.spec.node_name}")
        labels = {} if entry is None else entry.value.meta.labels
        values.append(labels.get(term.topology_key))
    return values[0] is not None and values[0] == values[1]
