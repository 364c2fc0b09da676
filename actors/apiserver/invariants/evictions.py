"""Evictions keep to their budgets: each takes one disruption where one is due (INV-33)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.apiserver.invariants.asked import asked_of_server
from testbed import Evidence, Invariant
from testbed.invariant import SERVED
from testbed.objects import Pod, PodDisruptionBudget
from testbed.store.change import Change
from testbed.turns.found import TOO_MANY, Found, Wrong, told
from testbed.turns.trace import Step

BUDGETS = PodDisruptionBudget.plural


class EvictionsKeepToBudgets(Invariant):
    """Between two writes of its status by the controller, a budget grants no more evictions than
    the first write allowed. Each eviction takes one disruption and notes its pod in the budget. And
    no pod that was ready and covered by one budget when its eviction began is evicted before a
    disruption was taken for it."""

    name = "evictions_keep_to_budgets"
    breach_reason, breach_fields = TOO_MANY, ("status.disruptions_allowed", "status.disrupted_pods")
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def __init__(self) -> None:
        self._begun: dict[Any, int] = {}
        """By eviction under way, the revision at which it began."""
        self._paid: set[Any] = set()
        self._left: dict[str, int] = {}
        """By uid of a budget, how many evictions it may still grant."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = asked_of_server(evidence)
        is_eviction = request is not None and request.operation.asked == "create/eviction"
        changes = evidence.changes
        if is_eviction and request not in self._begun:
            first = changes[0].revision - 1 if changes else evidence.store.revision
            self._begun[request] = first
        for change in changes:
            if change.key.startswith(f"{BUDGETS}/"):
                wrong = self._wrong_in_budget(request if is_eviction else None, change)
            else:
                wrong = self._wrong_in_pod(request, change, evidence) if is_eviction else None
            if wrong:
                return told(
                    wrong, change, after=f" at rv {change.revision}",
                    actors=request.role.name, since=change.revision,
                )  # fmt: skip
        if is_eviction and request.is_served:
            del self._begun[request]
            self._paid.discard(request)
        return None

    def _wrong_in_budget(self, request: Any, change: Change) -> Found | None:
        old: Any = change.before
        new: Any = change.after
        if new is None:
            return None
        uid, allowed = new.meta.uid, new.status.disruptions_allowed
        if request is None:
            if old is None or old.status != new.status:
                self._left[uid] = allowed
            return None
        had, name = old.status.disruptions_allowed, request.operation.name
        left = self._left[uid] = self._left.get(uid, had) - 1
        self._paid.add(request)
        if left < 0:
            text = f"{change.key} granted the eviction of {name}, and allowed no more"
            return Found.of(text, change, _evicted(request))
        if had - allowed != 1 or name not in new.status.disrupted_pods:
            counts = f"had {had} before, {allowed} now"
            text = f"{change.key} granted the eviction of {name}, and {counts}"
            return Found.of(text, change, _evicted(request))
        return None

    def _wrong_in_pod(self, request: Any, change: Change, evidence: Evidence) -> Found | None:
        old: Any = change.before
        is_gone = change.new is None or change.new.value.meta.is_terminating  # type: ignore[attr-defined]
        if not isinstance(old, Pod) or old.meta.is_terminating or not is_gone:
            return None
        if request in self._paid:
            return None
        budget = _owed(change.key, self._begun[request], evidence)
        if not budget:
            return None
        return Found.of(f"{change.key} was evicted, and {budget} was not asked", change, budget)


def _evicted(request: Any) -> str:
    """The key of the pod that an eviction is of."""
    return str(request.operation.key).removesuffix("/eviction")


def _owed(key: str, begun: int, evidence: Evidence) -> str:
    """The key of the one budget that covered the pod when its eviction began, if the pod was ready
    then. Empty if that was not so, or if that revision was compacted away."""
    store = evidence.store
    then = None if begun < store.compacted else store.peek(key, begun)
    pod: Any = None if then is None else then.value
    if pod is None or not _serves(pod):
        return ""
    budgets: list[Any] = [entry.value for entry in store.snapshot(f"{BUDGETS}/", begun)]
    covering = [budget.key for budget in budgets if budget.covers(pod.meta)]
    return covering[0] if len(covering) == 1 else ""


def _serves(pod: Pod) -> bool:
    """Whether a budget counts the pod: it runs, is ready and is not being deleted."""
    return pod.status.phase == "Running" and pod.is_ready and not pod.meta.is_terminating
