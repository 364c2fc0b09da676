"""No pod runs twice (INV-5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from actors.kubelet.invariants.on_nodes import (
    RESTARTED,
    STARTED,
    News,
    is_reachable,
    kubelets,
    node_of,
    reports,
)
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD
from testbed.objects import Node, Pod
from testbed.objects.meta import key_of
from testbed.turns.found import TOO_MANY, Found, Wrong
from testbed.turns.trace import Step

ALLOWED = "allowed_double_run"
Place = tuple[str, str]
"""A node, and the uid of a pod that runs there."""


class NoPodRunsTwice(Invariant):
    """No uid runs on two nodes, and no two pods of one name run at the same time.

    One case is allowed, and noted: somebody other than the kubelet has removed the object of one
    pod, by a forced deletion say (KUB-21). Its containers run until its kubelet hears of that. A
    kubelet that is down or cut off does not hear of it (KUB-45). At rest, no kubelet that is up and
    can be reached still runs such a pod. How soon a kubelet must hear of it is not judged: a
    Chooser may hold up any delivery for as long as it likes. If the claim is `strict`, that case is
    a breach, too: the workload may never run twice, as a StatefulSet promises.
    """

    name = "no_pod_runs_twice"
    breach_reason = TOO_MANY
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, RECORD})

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        """Whether what is allowed else is a breach, too."""
        self._news = News()
        self._forced: dict[str, str] = {}
        """By uid of a pod that was bound, the actor that has removed it; not its kubelet."""
        self._allowed: dict[str, None] = {}
        """The double runs that were allowed, as sentences, in order."""

    @property
    def note(self) -> str:
        return "; ".join(f"{ALLOWED}: {each}" for each in self._allowed)

    @property
    def allowed(self) -> str:
        return ALLOWED if self._allowed else ""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = evidence.served
        for change in evidence.changes:
            old: Any = change.before
            new: Any = change.after
            if not isinstance(old, Pod) or not old.is_bound or request is None:
                continue
            # Whoever marks a pod with a grace of 0 removes it: any write may then delete it, even
            # one of its own kubelet.
            is_let_go = new is None or (new.meta.is_terminating and not new.meta.grace_s)
            if is_let_go and node_of(evidence, request.role) != old.spec.node_name:
                self._forced.setdefault(old.meta.uid, request.role.name)
        if self._news.of(evidence, STARTED, RESTARTED):
            return self._judge(evidence)
        return None

    def end(self, evidence: Evidence) -> Wrong:
        roles = dict(kubelets(evidence))
        for key, places in _running(evidence).items():
            if len(places) < 2:
                continue
            for node, uid in places:
                if uid in self._forced and is_reachable(evidence, roles[node]):
                    kubelet = roles[node].name
                    text = f"{key} runs twice, and {kubelet} has not ended {uid}"
                    return Found.of(text, key, *_nodes(places), actors=kubelet)
        return self._judge(evidence)

    def _judge(self, evidence: Evidence) -> Wrong:
        for key, places in _running(evidence).items():
            if len(places) < 2:
                continue
            kept = [(node, uid) for node, uid in places if uid not in self._forced]
            where = " and ".join(f"on {node} ({uid})" for node, uid in places)
            if len({uid for _, uid in places}) < len(places) or len(kept) > 1:
                return Found.of(f"{key} runs {where}", key, *_nodes(places))
            who = ", ".join(f"{u} was removed by {self._forced[u]}" for _, u in places
                            if u in self._forced)  # fmt: skip
            if self.strict:
                removers = (self._forced[uid] for _, uid in places if uid in self._forced)
                return Found.of(f"{key} runs {where}; {who}", key, *_nodes(places), actors=removers)
            self._allowed[f"{key} ran {where}; {who}"] = None
        return None


def _nodes(places: list[Place]) -> Iterator[str]:
    """The keys of these nodes."""
    return (key_of(Node, node) for node, _ in places)


def _running(evidence: Evidence) -> dict[str, list[Place]]:
    """By name, where pods of that name run."""
    found: dict[str, list[Place]] = {}
    for node, _ in kubelets(evidence):
        for report in reports(evidence, node):
            if report.is_running:
                found.setdefault(report.pod.key, []).append((node, report.pod.meta.uid))
    return found
