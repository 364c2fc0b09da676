"""Oscillation: nodes come, go and come again, though nothing else is wanted (INV-38)."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.autoscaler.autoscaler import Autoscaler
from actors.autoscaler.invariants.passes import JudgesPasses, SeenPass, group_key, key_of, node_key
from actors.autoscaler.pass_record import SCHEDULABLE
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Pod
from testbed.turns.found import ROUND, Found, Wrong
from testbed.turns.trace import Step

WITHIN_MS = 1_200_000
WORKLOADS = (
    "daemonsets", "deployments", "jobs", "replicasets", "replicationcontrollers", "statefulsets",
)  # fmt: skip


class AwaitedNodesStay(JudgesPasses):
    """No pass deletes a node as empty if it has just found room there for a pod that waits."""

    name = "awaited_nodes_stay"
    reads = frozenset({"log:nodes"})

    def wrong_with(self, seen: SeenPass, evidence: Evidence) -> Found | None:
        """What is wrong with a pass; None if nothing is."""
        going = seen.record.scale_down.deleting_empty
        waiting = {key_of(pod): pod for pod in seen.sight.unschedulable}
        for key, fate in seen.record.pods.items():
            is_daemon = any(owner.kind == "DaemonSet" for owner in waiting[key].meta.owners)
            if fate.fate == SCHEDULABLE and fate.node in going and not is_daemon:
                text = f"lets {fate.node} go as empty, where {key} has just found room"
                return Found.of(text, node_key(fate.node), waiting[key])
        return None


@attrs.define
class _Sizes:
    """How one group has grown and shrunk since somebody outside wanted something."""

    steps: list[tuple[int, int]] = attrs.field(factory=list)
    """When it grew (1) and shrank (-1)."""

    @property
    def is_oscillating(self) -> bool:
        """Whether it grew, shrank and grew again within the time."""
        signs = [sign for _, sign in self.steps[-3:]]
        return signs == [1, -1, 1] and self.steps[-1][0] - self.steps[-3][0] <= WITHIN_MS


class NoGroupOscillates(Invariant):
    """No group grows, shrinks and grows again within twenty minutes while no person does anything.

    It only reports such a group, because with some settings the real program does it. With
    `strict`, such a group is a Violation.
    """

    name = "no_group_oscillates"
    breach_reason = ROUND
    reads = frozenset({"log:nodegroups", "log:pods", *(f"log:{plural}" for plural in WORKLOADS)})
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._sizes: dict[str, _Sizes] = {}
        self._said = ""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = evidence.served
        for change in evidence.changes:
            old: Any = change.before
            new: Any = change.after
            plural = change.key.partition("/")[0]
            if plural == "nodegroups":
                is_its = request is not None and isinstance(request.role.actor, Autoscaler)
                self._note(old, new, evidence.now_ms, is_its=is_its)
            elif _is_wish(plural, old, new):
                self._sizes.clear()
        found = [name for name, sizes in sorted(self._sizes.items()) if sizes.is_oscillating]
        if found and not self._said:
            self._said = f"{found[0]} grew, shrank and grew again, and nobody wanted anything else"
            return Found.of(self._said, group_key(found[0])) if self.strict else None
        return None

    def _note(self, old: Any, new: Any, now_ms: int, *, is_its: bool) -> None:
        if old is None or new is None:
            return
        if not is_its:
            self._sizes.clear()
            return
        steps = self._sizes.setdefault(new.name, _Sizes()).steps
        sign = (new.target > old.target) - (new.target < old.target)
        if sign and (not steps or steps[-1][1] != sign):
            steps.append((now_ms, sign))
        elif sign:
            steps[-1] = now_ms, sign

    @property
    def note(self) -> str:
        """What it has to report."""
        return f"{self._said[0].upper()}{self._said[1:]}." if self._said else ""

    @property
    def allowed(self) -> str:
        """The word for it."""
        return "allowed_oscillation" if self._said and not self.strict else ""


def _is_wish(plural: str, old: Any, new: Any) -> bool:
    """Whether somebody outside wanted a change: to a workload, or to a pod that no controller
    makes again."""
    if plural in WORKLOADS:
        return old is None or new is None or old.spec != new.spec
    item = old if new is None else new
    return isinstance(item, Pod) and not item.meta.owners and (old is None or new is None)
