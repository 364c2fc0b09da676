"""Evict: deletes a pod, if the PodDisruptionBudget that covers it allows a disruption."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver.call import Call, not_found
from actors.apiserver.verbs.delete import Wish, check, remove
from testbed.errors import BadRequest, Conflict, Forbidden, InternalError, TooManyRequests
from testbed.objects import Condition, Eviction, Pod, PodDisruptionBudget, condition
from testbed.objects.calendar import whole_second
from testbed.store.endpoint import BETWEEN, Handler, Pause

TRIES, AGAIN_MS = 20, 500
"""How often a request is tried if it meets conflicts, and how long it waits in between."""
DISRUPTED_MAX = 2000
"""How many granted evictions a budget may list before its controller has confirmed them."""
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
EVICTED = Condition("DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting")


def evict(call: Call) -> Handler:
    """1. A pod that is pending, over or terminating is deleted without asking a budget. 2. For any
    other, one disruption is taken from the budget that covers it, if there is one. 3. Then it is
    deleted (API-33 to API-37)."""
    body: Any = call.operation.body
    if not isinstance(body, Eviction):
        raise BadRequest(f"{call.operation}: expected an Eviction as its body, found {body!r}")
    if body.meta.name != call.operation.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    wish = _wish(body)
    pod = call.current()
    tries = 0
    while _needs_no_budget(pod):
        # A Pending pod may become Ready at any moment, and its budget would count it then. So the
        # delete names the revision that was read; on a conflict the pod is looked at again.
        is_pending = pod.status.phase == "Pending" and not wish.revision
        tried = attrs.evolve(wish, revision=pod.meta.revision) if is_pending else wish
        try:
            return (yield from _delete(call, tried))
        except Conflict:
            tries += 1
            if wish.revision or tries == TRIES:
                raise
        call = yield from _later(call, Pause(until_ms=call.now_ms + AGAIN_MS))
        pod = call.current()
    budget = _budget_of(call, pod)
    if budget is None:
        return (yield from _delete(call, wish))
    if not pod.is_ready and budget.status.current_healthy >= budget.status.desired_healthy > 0:
        return (yield from _delete_unready(call, wish, pod, budget))
    call = yield from _later(call, BETWEEN)
    call = yield from _take(call, pod, budget)
    call = yield from _later(call, BETWEEN)
    return (yield from _delete(call, wish))


def _later(call: Call, pause: Pause) -> Handler:
    """Let other requests come between; returns the same Call at the time at which it goes on."""
    now_ms = yield pause
    return call if now_ms is None else attrs.evolve(call, now_ms=now_ms)


def _wish(body: Eviction) -> Wish:
    options = body.delete_options
    if options is None:
        return Wish()
    return Wish(
        options.grace_s, options.preconditions.uid, options.preconditions.revision,
        options.propagation_policy,
    )  # fmt: skip


def _needs_no_budget(pod: Pod) -> bool:
    """Whether a budget would not count the pod as healthy anyway."""
    return pod.is_over or pod.status.phase == "Pending" or pod.meta.is_terminating


def _budget_of(call: Call, pod: Pod) -> PodDisruptionBudget | None:
    """The budget that covers the pod, or None; InternalError if there are several (API-34). It is
    read from the Store, not from the watch cache."""
    budgets = call.server.all_stored(PodDisruptionBudget, pod.meta.namespace)
    covering = [budget for budget in budgets if budget.covers(pod.meta)]
    if len(covering) > 1:
        raise InternalError(SEVERAL)
    return covering[0] if covering else None


def _take(call: Call, pod: Pod, budget: PodDisruptionBudget) -> Handler:
    """Take one disruption from the budget, and commit that before the pod is deleted."""
    # An update of the budget is refused if it was written since it was read: two evictions
    # can so never take the same last disruption. The loser reads it again and decides afresh.
    # What is taken stays taken even if the delete then fails: in Kubernetes the controller of
    # budgets counts again later.
    for _ in range(TRIES):
        there = call.current_at(budget.key)
        if there is None:
            raise not_found(PodDisruptionBudget, budget.meta.name)
        if there.meta.revision == budget.meta.revision:
            call.put(_reduced(call, pod, budget))
            return call
        budget = there
        call = yield from _later(call, Pause(until_ms=call.now_ms + AGAIN_MS))
    raise Conflict(f"couldn't update PodDisruptionBudget {budget.meta.name!r} due to conflicts")


def _reduced(call: Call, pod: Pod, budget: PodDisruptionBudget) -> PodDisruptionBudget:
    """The budget with one disruption less; TooManyRequests or Forbidden if it allows none
    (API-36)."""
    status, meta = budget.status, budget.meta
    if status.observed_generation < meta.generation:
        why = f"The disruption budget {meta.name} is still being processed by the server."
        raise TooManyRequests(REFUSED, retry_after_s=10, causes=(why,))
    if status.disruptions_allowed < 0:
        raise _forbidden(meta.name, "pdb disruptions allowed is negative")
    if len(status.disrupted_pods) > DISRUPTED_MAX:
        raise _forbidden(
            meta.name, "DisruptedPods map too big - too many evictions not confirmed by PDB "
            "controller",
        )  # fmt: skip
    if status.disruptions_allowed == 0:
        why = (
            f"The disruption budget {meta.name} needs {status.desired_healthy} healthy pods and "
            f"has {status.current_healthy} currently"
        )
        raise TooManyRequests(REFUSED, causes=(why,))
    disrupted = status.disrupted_pods.having(**{pod.meta.name: whole_second(call.now_ms)})
    allowed = status.disruptions_allowed - 1
    conditions = status.conditions
    if allowed == 0:
        used_up = Condition("DisruptionAllowed", "False", "InsufficientPods")
        conditions = condition.having(conditions, used_up, call.now_ms)
    status = attrs.evolve(
        status, disruptions_allowed=allowed, disrupted_pods=disrupted, conditions=conditions
    )
    return attrs.evolve(budget, status=status)


def _forbidden(name: str, why: str) -> Forbidden:
    return Forbidden(f'poddisruptionbudget.policy "{name}" is forbidden: {why}')


def _delete_unready(call: Call, wish: Wish, pod: Pod, budget: PodDisruptionBudget) -> Handler:
    """Delete a pod that is not ready and whose budget is met without it, if the pod is still at the
    revision that was read. If not, the caller is told to ask again (API-35)."""
    given = wish.revision
    try:
        tried = attrs.evolve(wish, revision=pod.meta.revision)
        return (yield from _delete(call, tried))
    except Conflict as error:
        if given:
            raise
        why = f"The disruption budget {budget.meta.name} is still being processed by the server."
        raise TooManyRequests(REFUSED, retry_after_s=10, causes=(why,)) from error


def _delete(call: Call, wish: Wish) -> Handler:
    """Write the condition DisruptionTarget on the pod, then delete it; each is its own commit."""
    pod = call.current()
    conditions = condition.having(pod.status.conditions, EVICTED, call.now_ms)
    if conditions != pod.status.conditions:
        check(call, wish, pod)
        status = attrs.evolve(pod.status, conditions=conditions)
        noted = call.put(attrs.evolve(pod, status=status))
        if wish.revision:
            wish = attrs.evolve(wish, revision=noted.meta.revision)
        call = yield from _later(call, BETWEEN)
    return (yield from remove(call, wish))
