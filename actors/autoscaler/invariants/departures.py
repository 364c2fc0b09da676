"""Departures: what must be so when an autoscaler deletes a node (INV-37).

They share no code with it. They look at the Store: a node that goes is first tainted, and then its
instance gets a time by which it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from actors.autoscaler.invariants.passes import GOING, has_taint
from actors.autoscaler.pass_record import SUCCESSFUL, PassRecord
from actors.autoscaler.settings import AutoscalerSettings
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, TURN
from testbed.objects import Node, Pod
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step

LATE_MS = 60_000
"""A pod without a grace of its own that terminates for longer than this is not waited for."""


class DepartingNodesAreEmpty(Invariant):
    """No pod that was on a node when it was tainted is there when its instance is deleted.

    Only pods that the autoscaler had heard of by then count. A pod that comes after the taint may
    die with the node: its scheduler had not heard of the taint.
    """

    name = "departing_nodes_are_empty"
    breach_reason = FORBIDDEN
    reads = frozenset({"log:pods", "log:nodes", "log:cloudinstances"})
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self, actor: str = "autoscaler") -> None:
        self.actor = actor
        self._on: dict[str, dict[str, str]] = {}
        """By tainted node, the uids and keys of the pods that were on it then."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for node, is_put in _taints_changed(evidence):
            self._on.pop(node.meta.name, None)
            if is_put:
                self._on[node.meta.name] = dict(self._occupants(node.meta.name, evidence))
        for name in _departing(self.actor, evidence):
            for uid, key in self._on.get(name, {}).items():
                entry = evidence.store.peek(key)
                pod: Any = None if entry is None else entry.value
                if pod is not None and pod.meta.uid == uid and not pod.is_over:
                    text = f"{self.actor} deletes {name}, where {key} still is"
                    return Found.of(text, f"nodes/{name}", key, actors=self.actor)
        return None

    def _occupants(self, node: str, evidence: Evidence) -> Iterator[tuple[str, str]]:
        """The uids and keys of the pods on a node that have to move before it goes."""
        role = _role(self.actor, evidence)
        if role is None or role.life is None:
            return
        cutoff = role.switches.expendable_cutoff
        for cache in role.life.caches:
            for pod in cache.known.values() if cache.kind is Pod else ():
                entry = evidence.store.peek(pod.key)
                there: Any = None if entry is None else entry.value
                is_there = there is not None and there.meta.uid == pod.meta.uid
                is_here = is_there and pod.spec.node_name == node
                if is_here and not _is_passed_over(pod, cutoff, evidence.now_ms):
                    yield pod.meta.uid, pod.key


class NodesDepartInTime(Invariant):
    """No node is tainted before every pass has found it unneeded for long enough, nor while the
    autoscaler must wait because the cluster has just grown."""

    name = "nodes_depart_in_time"
    breach_reason = FORBIDDEN
    reads = frozenset({"log:nodes"})
    # A pass that writes nothing is followed by another one without any commit between them.
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(
        self, actor: str = "autoscaler", settings: AutoscalerSettings | None = None
    ) -> None:
        self.actor = actor
        self.settings = settings or AutoscalerSettings()
        self._grown: tuple[int, int] | None = None
        """When the last pass that made the cluster larger began, and in which life that was."""
        self._last: tuple[PassRecord, int] | None = None
        """Its last pass that has looked for unneeded nodes, and in which life that was."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request, role = evidence.served, _role(self.actor, evidence)
        if role is None or role.life is None:
            return None
        last: PassRecord | None = role.life.shown.get("pass")
        if last is not None and last.scale_down.ran:
            self._last = last, role.lives
        if last is not None and last.scale_up.result == SUCCESSFUL:
            self._grown = last.at_ms, role.lives
        if request is None or request.role is not role:
            return None
        for node, is_put in _taints_changed(evidence):
            if is_put and (wrong := self._wrong_with(node, role.lives, evidence.now_ms)):
                text = f"{self.actor} taints {node.meta.name}, {wrong}"
                return Found.of(text, node, fields="spec.taints", actors=self.actor)
        return None

    def _wrong_with(self, node: Node, life: int, now_ms: int) -> str:
        settings, since_ms = self.settings, None
        if self._last is not None and self._last[1] == life:
            since_ms = self._last[0].scale_down.unneeded_since.get(node.meta.name)
        if since_ms is None:
            return "which was needed in the pass before"
        least_ms = min(settings.unneeded_time_ms, settings.unready_time_ms)
        if now_ms - since_ms <= least_ms:
            return f"which has been unneeded for {now_ms - since_ms} ms"
        if self._grown is None or self._grown[1] != life:
            return ""
        ago_ms = now_ms - self._grown[0]
        if ago_ms < settings.delay_after_add_ms:
            return f"{ago_ms} ms after it has made the cluster larger"
        return ""


def _role(actor: str, evidence: Evidence) -> Any:
    """The actor, or None if there is none of that name."""
    return next((role for role in evidence.actors if role.name == actor), None)


def _taints_changed(evidence: Evidence) -> Iterator[tuple[Node, bool]]:
    """The nodes that have just got the taint, or lost it."""
    for change in evidence.changes:
        old: Any = change.before
        new: Any = change.after
        if not isinstance(new, Node):
            continue
        was_tainted = old is not None and has_taint(old, GOING)
        if has_taint(new, GOING) != was_tainted:
            yield new, not was_tainted


def _departing(actor: str, evidence: Evidence) -> Iterator[str]:
    """The instances that this actor has just let the cloud delete."""
    request = evidence.served
    if request is None or request.role.name != actor:
        return
    for change in evidence.changes:
        old: Any = change.before
        new: Any = change.after
        was_going = getattr(old, "gone_ms", None) is not None
        if getattr(new, "gone_ms", None) is not None and not was_going:
            yield new.meta.name


def _is_passed_over(pod: Pod, cutoff: int, now_ms: int) -> bool:
    """Whether an autoscaler need not wait for a pod: it has ended or should have long ago, it is
    expendable by that cutoff (CA-12), or it is a daemon or mirror pod, which goes with its node."""
    meta, spec = pod.meta, pod.spec
    is_daemon = any(owner.kind == "DaemonSet" for owner in meta.owners)
    marks = ("kubernetes.io/config.mirror", "cluster-autoscaler.kubernetes.io/daemonset-pod")
    is_expendable = spec.priority is not None and spec.priority < cutoff
    grace_ms = LATE_MS if spec.grace_s is None else 1000 * spec.grace_s + LATE_MS // 2
    is_late = meta.deleted_ms is not None and meta.deleted_ms + grace_ms < now_ms
    is_marked = any(mark in meta.annotations for mark in marks)
    return pod.is_over or is_daemon or is_marked or is_expendable or is_late
