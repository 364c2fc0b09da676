"""Difference: the patch from one status to another, and nothing else."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis.strategies import builds, integers, lists, none, one_of, sampled_from

from actors.apiserver.verbs.patching import patched
from actors.scheduler.writes.difference import difference
from testbed.objects import Condition, Map, Pod, PodStatus
from testbed.objects.form import from_tree, to_tree

WORDS = sampled_from(("", "a", "b"))
CONDITIONS = lists(
    builds(
        Condition, sampled_from(("A", "B", "C", "D")), sampled_from(("True", "False")), WORDS,
        since_ms=one_of(none(), integers(0, 3).map(lambda n: n * 1000)),
    ),
    unique_by=lambda condition: condition.type,
)  # fmt: skip
STATUSES = builds(
    PodStatus, phase=WORDS, message=WORDS, nominated_node_name=WORDS,
    conditions=CONDITIONS.map(tuple), start_ms=sampled_from((None, 1000)),
)  # fmt: skip


@pytest.mark.spec("SCH-67", "API-13")
@given(old=STATUSES, new=STATUSES)
def test_what_it_is_applied_to_becomes_the_other(old: PodStatus, new: PodStatus) -> None:
    """Any status becomes any other, with its conditions in order; for equal ones the patch is
    empty."""
    pod = Pod("p", status=old)
    patch = difference(pod, new)
    assert from_tree(Pod, patched(to_tree(pod), patch, "strategic")).status == new
    assert bool(patch) is (old != new)


def test_only_what_differs_is_in_it() -> None:
    """Of a condition its type and what is new; a condition that is gone is deleted by its type."""
    old = PodStatus(
        phase="Running", message="m",
        conditions=(Condition("A", "True", "x"), Condition("B", "True"), Condition("C", "True")),
    )  # fmt: skip
    new = PodStatus(
        phase="Running", conditions=(Condition("A", "True", "y"), Condition("C", "True"))
    )
    assert difference(Pod("p", status=old), new) == {
        "status": {
            "message": None,
            "conditions": [{"reason": "y", "type": "A"}, {"$patch": "delete", "type": "B"}],
            "$setElementOrder/conditions": [{"type": "A"}, {"type": "C"}],
        }
    }


def test_what_nobody_here_knows_of_a_status_is_left_alone_unless_it_is_another_pods() -> None:
    """A field that is not modelled, such as a host's address; from another pod's status it is
    copied."""
    pod = from_tree(Pod, {"metadata": {"name": "p"}, "status": {"hostIP": "10.0.0.1"}})
    named = attrs.evolve(pod.status, phase="Running")
    assert difference(pod, named) == {"status": {"phase": "Running"}}
    other = Pod("q", status=named)
    assert difference(pod, named, of=other)["status"] == {"phase": "Running", "hostIP": None}
    assert Map(difference(pod, pod.status)) == {}
