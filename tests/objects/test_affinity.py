"""Where a pod may be: taints and tolerations, and which nodes a term is met by."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.objects import Affinity, LabelSelector, Requirement, Taint, Toleration
from testbed.objects.affinity import (
    NO_EXECUTE,
    NO_SCHEDULE,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    tolerated,
)
from testbed.objects.form import from_tree, to_tree
from tests.each_row import each_row

TAINT = Taint("gpu", "yes", NO_SCHEDULE)


@pytest.mark.spec("API-61")
@each_row(
    ("toleration", "does"),
    [
        (Toleration("gpu", "Equal", "yes", NO_SCHEDULE), True),
        (Toleration("gpu", "", "yes"), True),
        (Toleration("gpu", "Equal", "no"), False),
        (Toleration("gpu", "Equal"), False),
        (Toleration("gpu", "Exists"), True),
        (Toleration("gpu", "Exists", effect=NO_SCHEDULE), True),
        (Toleration("gpu", "Exists", effect=NO_EXECUTE), False),
        (Toleration("cpu", "Exists"), False),
        (Toleration(operator="Exists"), True),
        (Toleration(operator="Exists", effect=NO_EXECUTE), False),
        (Toleration("", "", "yes"), True),
        (Toleration(), False),
        (Toleration("gpu", "Less", "yes"), False),
        (Toleration("gpu", "Exists", toleration_seconds=0), True),
    ],
)
def test_a_toleration_is_of_an_effect_a_key_and_a_value(toleration: Toleration, does: bool) -> None:
    """Each of the three may be empty; an unknown operator tolerates nothing."""
    assert toleration.tolerates(TAINT) is does
    assert tolerated(TAINT, [Toleration("x"), toleration]) is does
    assert not tolerated(TAINT, [])


LABELS = {"zone": "a", "cores": "8", "cold": "-5", "zero": "0", "much": "9" * 30}


@each_row(
    ("requirement", "holds"),
    [
        (Requirement("cores", "Gt", ("7",)), True),
        (Requirement("cores", "Gt", ("8",)), False),
        (Requirement("cores", "Lt", ("9",)), True),
        (Requirement("cores", "Lt", ("8",)), False),
        (Requirement("cores", "Gt", ("10",)), False),
        (Requirement("cold", "Lt", ("-4",)), True),
        (Requirement("cold", "Gt", ("-6",)), True),
        (Requirement("zero", "Gt", ("-1",)), True),
        (Requirement("zone", "Gt", ("1",)), False),
        (Requirement("zone", "Lt", ("1",)), False),
        (Requirement("none", "Lt", ("1",)), False),
        (Requirement("cores", "Gt", ("x",)), False),
        (Requirement("cores", "Gt"), False),
        (Requirement("cores", "Gt", ("1", "2")), False),
        (Requirement("much", "Gt", ("1",)), False),
        (Requirement("cores", "Gt", ("٧",)), False),
        (Requirement("cores", "Gt", ("+7",)), True),
        (Requirement("cores", "Gt", ("--7",)), False),
        (Requirement("zone", "In", ("a",)), True),
        (Requirement("zone", "NotIn", ("a",)), False),
        (Requirement("none", "NotIn", ("a",)), True),
        (Requirement("none", "DoesNotExist"), True),
    ],
)
def test_a_term_asks_for_labels_of_a_node(requirement: Requirement, holds: bool) -> None:
    """Gt and Lt compare whole numbers of 64 bits; what is none is neither more nor less."""
    assert NodeSelectorTerm((requirement,)).matches("n1", LABELS) is holds


def test_a_term_is_met_as_a_whole_and_an_empty_one_by_none() -> None:
    """Labels and fields both; and of the terms of a selector one is enough."""
    zone, name = Requirement("zone", "In", ("a",)), Requirement("metadata.name", "In", ("n1",))
    assert NodeSelectorTerm((zone,), (name,)).matches("n1", LABELS)
    assert not NodeSelectorTerm((zone,), (name,)).matches("n2", LABELS)
    assert not NodeSelectorTerm((zone,), (name,)).matches("n1", {})
    assert NodeSelectorTerm(match_fields=(name,)).matches("n1", {})
    assert not NodeSelectorTerm().matches("n1", LABELS)
    either = NodeSelector((NodeSelectorTerm(), NodeSelectorTerm((zone,))))
    assert either.matches("n1", LABELS)
    assert not either.matches("n1", {})
    assert not NodeSelector().matches("n1", LABELS)


TREE: dict[str, Any] = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]},
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 5,
                "preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]},
            }
        ],
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "zone",
                "labelSelector": {},
                "namespaces": ["a"],
                "namespaceSelector": {},
            }
        ],
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "host"}}
        ],
    },
}


def test_affinity_is_written_under_its_long_names() -> None:
    """Every part of it; a selector that is empty is not one that is absent."""
    near = from_tree(Affinity, TREE)
    assert to_tree(near) == TREE
    assert near.pod_anti_affinity is not None
    assert near.pod_anti_affinity.required[0].label_selector == LabelSelector()
    assert near.pod_anti_affinity.preferred[0].pod_affinity_term.label_selector is None
    assert near.node_affinity is not None
    assert near.node_affinity.required is not None
    assert near.node_affinity.required.matches("n2", {"cores": "8"})
    assert near.pod_affinity is None
    empty = Affinity(NodeAffinity(NodeSelector()), PodAffinity((PodAffinityTerm(),)))
    assert from_tree(Affinity, to_tree(empty)) == empty


def test_a_taint_always_says_its_effect() -> None:
    """As the API does; its value and its time if there are any."""
    assert to_tree(Taint("a")) == {"key": "a", "effect": ""}
    tree = {"key": "a", "value": "b", "effect": "NoExecute", "timeAdded": "2025-01-01T00:00:07Z"}
    assert to_tree(from_tree(Taint, tree)) == tree
    assert from_tree(Taint, tree).added_ms == 7000
