"""Eviction: what a budget allows, what it does not count, and what comes between its commits."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from testbed.errors import BadRequest, Conflict, Forbidden, InternalError, NotFound, TooManyRequests
from testbed.objects import (
    Condition,
    DeleteOptions,
    LabelSelector,
    Map,
    Meta,
    Pod,
    PodDisruptionBudget,
    Revision,
)
from testbed.objects.binding import Preconditions
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.store.endpoint import Operation
from tests.each_row import each_row
from tests.models.counter import Counter, eviction, finish, step, told, with_meta

APP = {"app": "a"}


def budget(counter: Counter, name: str = "b", **status: Any) -> PodDisruptionBudget:
    """A budget that covers the pods of app a, with that status."""
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(APP)))
    made = counter.create(PodDisruptionBudget(name, spec=spec))
    given = {"observed_generation": 1, **status}
    return counter.update(  # type: ignore[no-any-return]
        attrs.evolve(made, status=PodDisruptionBudgetStatus(**given)), "status"
    )


def ready(counter: Counter, name: str = "p") -> Pod:
    """A pod of app a that runs and is ready."""
    pod = counter.bound(name, labels=APP)
    tree = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    return counter.patch(pod, tree, "strategic", "status")  # type: ignore[no-any-return]


def status(counter: Counter) -> PodDisruptionBudgetStatus:
    """That of the budget as it is now."""
    return counter.get(PodDisruptionBudget, "b").status  # type: ignore[no-any-return]


@pytest.mark.spec("API-33")
@each_row("phase", ["Pending", "Succeeded", "Failed", "terminating"])
def test_what_serves_nobody_is_deleted_whatever_budgets_say(phase: str) -> None:
    """Pending, over, or on its way out: nothing is taken from the budget."""
    counter = Counter()
    budget(counter, disruptions_allowed=0)
    is_going = phase == "terminating"
    pod = counter.bound("p", "Running" if is_going else phase, labels=APP)
    if is_going:
        counter.delete(pod)
    counter.evict(pod)
    there = counter.store.peek("pods/default/p")
    assert there is None or there.value.meta.is_terminating  # type: ignore[attr-defined]
    assert status(counter).disrupted_pods == {}


@pytest.mark.spec("API-33")
def test_a_pending_pod_that_changes_meanwhile_is_looked_at_again() -> None:
    """It became Ready between the look and the delete: now its budget counts."""
    counter = Counter()
    budget(counter, disruptions_allowed=0, desired_healthy=1, current_healthy=1)
    pod = counter.bound("p", "Pending", labels=APP)
    asked = counter.begin(eviction(pod))
    step(asked)
    tree = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    counter.patch(pod, tree, "strategic", "status")
    with pytest.raises(TooManyRequests):
        finish(asked)
    assert not counter.get(Pod, "p").meta.is_terminating


@pytest.mark.spec("API-34")
def test_budgets_are_counted() -> None:
    """None: deleted. Several: 500, whatever they allow. One of another namespace does not count,
    nor one that selects nothing."""
    counter = Counter()
    pod = ready(counter)
    counter.create(
        PodDisruptionBudget("all", spec=PodDisruptionBudgetSpec(selector=LabelSelector()))
    )
    budget(counter, disruptions_allowed=5)
    budget(counter, "c", disruptions_allowed=5)
    with pytest.raises(InternalError, match="more than one PodDisruptionBudget") as caught:
        counter.evict(pod)
    assert caught.value.code == 500
    for name in ("b", "c"):
        counter.delete(counter.get(PodDisruptionBudget, name))
    counter.evict(pod)
    assert counter.get(Pod, "p").meta.grace_s == 30


@pytest.mark.spec("API-36", "API-37")
def test_an_eviction_takes_one_disruption_and_then_deletes() -> None:
    """Three commits, in this order: the budget's, the condition's, the delete's; each is seen
    before the next, and the last uses the caller's own options."""
    counter = Counter()
    pod = ready(counter)
    budget(counter, disruptions_allowed=1)
    counter.now_s = 9
    watches = [counter.ask(Operation("watch", p, revision=counter.now))
               for p in ("pods", "poddisruptionbudgets")]  # fmt: skip
    before = counter.store.revision
    counter.evict(pod, DeleteOptions(grace_s=7))
    after = counter.get(Pod, "p")
    assert (after.meta.deleted_ms, after.meta.grace_s) == (16_000, 7)
    assert (
        Condition(
            "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting", 9000
        )
        in after.status.conditions
    )
    assert (status(counter).disruptions_allowed, status(counter).disrupted_pods) == (0, {"p": 9000})
    revisions = [[str(d.revision) for d in told(watch)] for watch in watches]
    assert revisions == [[str(before + 2), str(before + 3)], [str(before + 1)]]


@pytest.mark.spec("API-36")
@each_row(
    ("said", "code", "retry_after_s", "text"),
    [
        ({"observed_generation": 0}, 429, 10, "still being processed"),
        ({"disruptions_allowed": -1}, 403, 0, "pdb disruptions allowed is negative"),
        (
            {"disruptions_allowed": 1, "disrupted_pods": Map({f"p{n}": 0 for n in range(2001)})},
            403, 0, "DisruptedPods map too big",
        ),
        (
            {"desired_healthy": 3, "current_healthy": 2},
            429, 0, "The disruption budget b needs 3 healthy pods and has 2 currently",
        ),
    ],
)  # fmt: skip
def test_a_budget_says_why_not(said: Any, code: int, retry_after_s: int, text: str) -> None:
    """429 or 403, with the cause, and nothing changes."""
    counter = Counter()
    pod = ready(counter)
    budget(counter, **said)
    before = counter.store.revision
    with pytest.raises((TooManyRequests, Forbidden)) as caught:
        counter.evict(pod)
    error = caught.value
    assert (error.code, error.retry_after_s) == (code, retry_after_s)
    assert text in " ".join((str(error), *error.causes))
    if code == 429:
        assert str(error) == "Cannot evict pod as it would violate the pod's disruption budget."
    assert counter.store.revision == before


@pytest.mark.spec("API-35")
def test_who_is_not_ready_costs_a_budget_nothing_that_is_met() -> None:
    """With enough healthy others it is deleted and nothing taken; with too few it counts."""
    counter = Counter()
    pod = counter.bound("p", labels=APP)
    budget(counter, desired_healthy=1, current_healthy=1)
    counter.evict(pod)
    assert counter.get(Pod, "p").meta.is_terminating
    assert status(counter).disrupted_pods == {}
    other = Counter()
    pod = other.bound("p", labels=APP)
    budget(other, desired_healthy=2, current_healthy=1)
    with pytest.raises(TooManyRequests):
        other.evict(pod)


@pytest.mark.spec("API-35")
def test_who_becomes_ready_meanwhile_is_not_deleted_for_it() -> None:
    """The pod has changed between the look and the delete: 429, ask again."""
    counter = Counter()
    pod = counter.bound("p", labels=APP)
    budget(counter, desired_healthy=1, current_healthy=1)
    asked = counter.begin(eviction(pod))
    step(asked)
    counter.update(with_meta(counter.get(Pod, "p"), labels=Map(APP, x="y")))
    with pytest.raises(TooManyRequests, match="Cannot evict pod"):
        finish(asked)


@pytest.mark.spec("API-36")
def test_two_evictions_take_from_a_budget_one_after_the_other() -> None:
    """Both have seen one disruption allowed; the second finds the budget changed, looks again, and
    is refused."""
    counter = Counter()
    first, second = ready(counter, "p"), ready(counter, "q")
    budget(counter, disruptions_allowed=1, desired_healthy=1, current_healthy=2)
    slow = counter.begin(eviction(second))
    step(slow)
    counter.evict(first)
    pause = step(slow)
    assert pause.until_ms == 500
    with pytest.raises(TooManyRequests):
        finish(slow)
    assert not counter.get(Pod, "q").meta.is_terminating


def test_an_eviction_is_of_the_pod_it_names() -> None:
    """Another name in its body: 400; no pod: 404."""
    counter = Counter()
    with pytest.raises(NotFound):
        counter.evict(Pod.of("gone"))
    wrong = attrs.evolve(eviction(Pod.of("p")), body=attrs.evolve(eviction(Pod.of("q")).body))
    with pytest.raises(BadRequest, match="name in URL does not match"):
        counter.ask(wrong)
    with pytest.raises(BadRequest, match="expected an Eviction"):
        counter.ask(attrs.evolve(wrong, body=Pod(Meta("p"))))


@pytest.mark.spec("API-33", "API-51")
@each_row("wrong", [Preconditions("other"), Preconditions("", Revision("1"))])
def test_who_is_not_meant_is_not_even_noted(wrong: Preconditions) -> None:
    """A uid or a revision that does not fit: 409, and nothing is written to the pod."""
    counter = Counter()
    pod = ready(counter)
    before = counter.store.revision
    with pytest.raises(Conflict, match="in the precondition"):
        counter.evict(pod, DeleteOptions(preconditions=wrong))
    assert counter.store.revision == before
