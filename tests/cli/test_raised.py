"""Raised: an exception is a user's if that code gave ours what it cannot take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import actors
from testbed.cli.raised import raised_by_theirs
from testbed.client.audit import audited
from testbed.errors import ScenarioError
from testbed.objects import (
    LabelSelector,
    Map,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodDisruptionBudget,
    Requirement,
    Toleration,
    qos_of,
    requests_of,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.store.change import Entry
from testbed.store.store import Store

POD: Any = Pod.of("p", cpu_m=100, labels={"app": "web"})
SELECTOR: Any = LabelSelector(Map(app="web"))
BUDGET: Any = PodDisruptionBudget("b", spec=PodDisruptionBudgetSpec(selector=SELECTOR))
ENTRY = Entry(POD.key, POD, 1, 1, 1)
LABELS = "TypeError: expected labels, or an object that has some, such as a Pod, and got "
STORE: Any = Store()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: BUDGET.covers(POD.meta.labels),
            "TypeError: expected an object, such as a Pod, or",
        ),
        (lambda: BUDGET.covers(ENTRY), "got Entry; next, give its `.value`"),
        (lambda: SELECTOR.matches(ENTRY), f"{LABELS}Entry; next, give its `.value`"),
        (lambda: SELECTOR.matches("app=web"), f"{LABELS}str"),
        (lambda: Requirement("app", "Exists").holds(None), f"{LABELS}NoneType"),  # type: ignore[arg-type]
        (lambda: POD.spec.may_be_on("n1", "n1"), f"{LABELS}str"),
        (lambda: Toleration().tolerates(POD), "AttributeError: 'Pod' object has no attribute"),
        (lambda: requests_of(POD.spec), "AttributeError: 'PodSpec' object has no attribute"),
        (lambda: qos_of(POD), "AttributeError: 'Pod' object has no attribute"),
        (lambda: POD.with_meta(labls={}), "TypeError: a Meta has no labls; it has name, "),
        (lambda: STORE.snapshot(Pod), "AttributeError: type object 'Pod' has no attribute"),
        (lambda: Pod.of("p", cpu_m="1"), "TypeError: '1': expected a whole number"),  # type: ignore[arg-type]
    ],
)
def test_what_is_given_wrongly_is_told_with_the_line_that_gave_it(
    call: Callable[[], object], said: str
) -> None:
    """And never as a bug of ours: objects and the Store hold data, and do no more."""
    with pytest.raises((TypeError, AttributeError)) as error:
        call()
    raised = raised_by_theirs(error.value)
    assert raised is not None
    assert raised.said.startswith(f"{__file__}, line ")
    assert said in raised.said


def test_what_our_own_code_gives_wrongly_is_a_bug_of_ours() -> None:
    """It is whoever asks the object that counts: here an actor that comes with the testbed."""
    place = str(Path(actors.__path__[0]) / "scheduler/scheduler.py")
    asks = eval(compile("lambda pod: pod.spec.may_be_on('n1', 5)", place, "eval"))
    with pytest.raises(TypeError) as error:
        asks(POD)
    assert raised_by_theirs(error.value) is None


@pytest.mark.parametrize("item", [POD, POD.meta, POD.meta.labels])
def test_a_selector_takes_an_object_its_metadata_or_its_labels(item: Any) -> None:
    """A user has the object, and what asks a selector inside has its labels."""
    other = Pod.of("q", labels={"app": "db"})
    term = NodeSelectorTerm((Requirement("app", "In", ("web",)),))
    assert SELECTOR.matches(item)
    assert not SELECTOR.matches(other)
    for nodes in (term, NodeSelector((term,))):
        assert nodes.matches("n1", item)
        assert not nodes.matches("n1", other)


def test_under_audit_a_selector_sees_the_labels_that_are_declared() -> None:
    """What is shown through a view is still an object, and its labels must be declared."""

    def refused(said: str, _: str) -> ScenarioError:
        return ScenarioError(said)

    assert SELECTOR.matches(audited(POD, ("meta.labels",), "alpha", refused))
    with pytest.raises(ScenarioError, match=r"meta\.labels"):
        SELECTOR.matches(audited(POD, ("spec",), "alpha", refused))
