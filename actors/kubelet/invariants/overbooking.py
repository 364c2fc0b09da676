"""No node is overbooked, but by schedulers that do not know of each other (INV-7 (b), INV-8)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.kubelet.invariants.on_nodes import is_reachable, kubelets
from actors.kubelet.invariants.together import wrong_with
from actors.kubelet.switches import LOWER
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Node, Pod, requests_of, room_of
from testbed.objects.affinity import PodAffinityTerm
from testbed.turns.found import FORBIDDEN, Found, Wrong, told
from testbed.turns.trace import Step

RACE = "scheduler_race"
PREEMPTOR = "kubelet_preemptor"
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

    Where kubelets preempt (`kubelet_preemptor`, CTL-55), a scheduler binds a pod beside less
    important ones that are still to end, and to a kubelet that will end them. That is allowed, and
    noted, if all pods there that are as important, or more, fit together and keep apart.
    """

    name = "nodes_are_not_overbooked"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._binders: dict[str, Binder] = {}
        """By uid, who has bound the pod, or created it bound."""
        self._shrunk: set[str] = set()
        self._races: dict[str, str] = {}
        """What was wrong and is allowed, with the word for it."""

    @property
    def note(self) -> str:
        return "; ".join(f"{word}: {each}" for each, word in self._races.items())

    @property
    def allowed(self) -> str:
        return RACE if RACE in self._races.values() else next(iter(self._races.values()), "")

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = evidence.served
        for change in evidence.changes:
            old: Any = change.before
            new: Any = change.after
            if isinstance(old, Node) and not _has_all(new, old):
                self._shrunk.add(old.meta.name)
            was_bound = isinstance(old, Pod) and old.is_bound
            if not isinstance(new, Pod) or not new.is_bound or was_bound:
                continue
            if request is None:
                continue
            self._binders[new.meta.uid] = (request.role.name, request.life.number)
            is_bind = request.operation.subresource == "binding"
            if breach := self._judge(evidence, new, request.role) if is_bind else None:
                return told(breach, since=change.revision)
        return None

    def _judge(self, evidence: Evidence, new: Pod, binder: Any) -> Found | None:
        """What is wrong with having bound this pod, unless it is a race of schedulers, or a kubelet
        is to make room for it."""
        node = new.spec.node_name
        wrong = _wrong_on(evidence, node) or _too_near(evidence, new)
        if not wrong:
            return None
        if _makes_room(evidence, binder, node):
            # A pod that asks for nothing has not filled the node, whoever is there.
            asks, rank = any(requests_of(new).values()), new.priority
            is_full = asks and _wrong_on(evidence, node, rank)
            if not is_full and not _too_near(evidence, new, rank):
                self._races[wrong.text] = PREEMPTOR
                return None
        pods = [pod for pod in _active(evidence) if pod.spec.node_name == node]
        binders = {self._binders.get(pod.meta.uid, ("", 0)) for pod in pods} - {("", 0)}
        if len(binders) > 1 or node in self._shrunk or _had_failed(evidence, pods):
            self._races[wrong.text] = RACE
            return None
        by = next(iter(binders), ("", 0))[0]
        return told(wrong, after=f", all by {by or 'one actor'}", actors=by or ())

    def end(self, evidence: Evidence) -> Wrong:
        for node, role in kubelets(evidence):
            wrong = _wrong_on(evidence, node) if is_reachable(evidence, role) else None
            if wrong and node not in self._shrunk:
                after = f", and {role.name} has rejected none of them"
                return told(wrong, after=after, actors=role.name)
        return None


def _active(evidence: Evidence) -> list[Pod]:
    """The pods that are bound and not over."""
    pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
    return [pod for pod in pods if pod.is_bound and not pod.is_over]


def _makes_room(evidence: Evidence, binder: Any, node: str) -> bool:
    """Whether that scheduler leaves it to kubelets to make room, and the one of that node does."""
    if getattr(binder.switches, "preemptor", "") != "kubelet":
        return False
    for role in evidence.actors:
        if getattr(role.switches, "preempts", "") == LOWER:
            # Before its first life a role has no actor yet; to make one does nothing.
            kubelet = role.actor or role.factory()
            if getattr(kubelet, "node", "") == node:
                return True
    return False


def _wrong_on(evidence: Evidence, node: str, rank: int | None = None) -> Found | None:
    """Why the pods of a node do not fit it; with a `rank`, those of at least that priority."""
    entry: Any = evidence.store.peek(f"nodes/{node}")
    if entry is None:
        return None
    pods = [pod for pod in _active(evidence) if pod.spec.node_name == node]
    if rank is not None:
        pods = [pod for pod in pods if pod.priority >= rank]
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


def _too_near(evidence: Evidence, new: Pod, rank: int | None = None) -> Found | None:
    """Which pods are too near to each other for the anti-affinity of one (INV-8); None: none. With
    a `rank`, only those of at least that priority are looked at."""
    for other in _active(evidence):
        if other.meta.uid == new.meta.uid or (rank is not None and other.priority < rank):
            continue
        for one, two in ((new, other), (other, new)):
            affinity = one.spec.affinity
            anti = None if affinity is None else affinity.pod_anti_affinity
            for term in () if anti is None else anti.required:
                if _means(term, one, two) and _are_near(evidence, term, one, two):
                    text = f"{one.key} must be apart from {two.key}, by {term.topology_key}"
                    return Found.of(text, one, two, fields="spec.node_name", reason=FORBIDDEN)
    return None


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
