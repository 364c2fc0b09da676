"""The planner of scale-down: which nodes are unneeded, since when, and which of them go."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from actors.autoscaler.scale_down.deletions import RunningDeletion
from actors.autoscaler.settings import AutoscalerSettings
from testbed.objects import Pod
from tests.models.worlds.idle_nodes import (
    IdleCluster,
    annotated,
    group,
    idle_node,
    owned,
)

LOAD = owned("load", "n2", 2500)
TWO = (idle_node("n1"), idle_node("n2"))
PAIR = (group("g", "n1", "n2"),)


def pair(*pods: Pod, **settings: int | bool) -> IdleCluster:
    """Two nodes, of which n2 is in use; what else is there is given."""
    return IdleCluster(TWO, (*pods, LOAD), PAIR, AutoscalerSettings(**settings))  # type: ignore[arg-type]


def backwards(_label: str, names: Sequence[str]) -> list[str]:
    """The other order in which a map could have given them."""
    return sorted(names, reverse=True)


@pytest.mark.spec("CA-27")
def test_an_unready_node_has_to_wait_longer() -> None:
    """Twenty minutes."""
    cluster = pair()
    cluster.nodes = (idle_node("n1", ready="Unknown"), TWO[1])
    cluster.went(0)
    assert cluster.went(1200) == ("NoUnneeded", [], [])
    assert cluster.reasons["n1"] == "NotUnreadyLongEnough"
    assert cluster.went(1200.5) == ("NodeDeleteStarted", ["n1"], [])


@pytest.mark.spec("CA-25")
def test_an_annotation_keeps_a_node() -> None:
    """It is looked at in every pass."""
    cluster = pair()
    cluster.nodes = (annotated(TWO[0], scale_down_disabled="true"), TWO[1])
    cluster.at(0)
    assert cluster.reasons["n1"] == "ScaleDownDisabledAnnotation"


@pytest.mark.spec("CA-27")
def test_a_group_keeps_its_minimum() -> None:
    """Nodes that are being deleted count as gone already."""
    nodes = [idle_node(name) for name in ("a", "b", "c")]
    cluster = IdleCluster(nodes, (), (group("g", "a", "b", "c", least=1),))
    cluster.went(0)
    assert cluster.went(601) == ("NodeDeleteStarted", ["a", "b"], [])
    cluster.deletions.start(RunningDeletion("a", "g", drains=False))
    cluster.deletions.start(RunningDeletion("b", "g", drains=False))
    cluster.nodes = nodes[2:]
    assert cluster.went(602) == ("NoUnneeded", [], [])
    assert cluster.reasons["c"] == "NodeGroupMinSizeReached"


@pytest.mark.spec("CA-27")
def test_a_node_that_goes_stops_the_clocks_of_those_tied_to_it() -> None:
    """Their pods would have gone to the same place; that is sure only while it is in doubt."""
    nodes = [idle_node(name) for name in ("n1", "n2", "n3")]
    pods = (owned("a", "n1"), owned("b", "n2"), owned("load", "n3", 2500))
    cluster = IdleCluster(nodes, pods, (group("g", "n1", "n2", "n3"),))
    cluster.groups = (group("g", "n1", "n2"),)
    cluster.nodes = [
        *(attrs.evolve(n, spec=attrs.evolve(n.spec, unschedulable=True)) for n in nodes[:2]),
        nodes[2],
    ]
    cluster.went(0)
    assert cluster.planner.unneeded.since_ms == {"n1": 0, "n2": 0}
    assert cluster.went(601) == ("NodeDeleteStarted", [], ["n1"])
    assert cluster.planner.unneeded.since_ms == {}


@pytest.mark.spec("CA-28")
def test_one_node_is_drained_at_a_time() -> None:
    """The first in the order of a map of which the removal still succeeds."""
    nodes = [idle_node(name) for name in ("n1", "n2", "n3")]
    pods = (owned("a", "n1"), owned("b", "n2"), owned("load", "n3", 2500))
    cluster = IdleCluster(nodes, pods, (group("g", "n1", "n2", "n3"),), order=backwards)
    cluster.went(0)
    assert cluster.went(601)[2] == ["n2"]


def test_few_nodes_are_tried_if_that_is_asked_for() -> None:
    """Those that were unneeded before are tried in any case; the others have no better reason."""
    nodes = [idle_node(name) for name in ("n1", "n2", "n3", "n4")]
    pods = [owned(f"p{n}", f"n{n}", 300) for n in range(1, 4)] + [owned("load", "n4", 2500)]
    settings = AutoscalerSettings(non_empty_candidates_count=1)
    groups = (group("g", "n1", "n2", "n3", "n4"),)
    cluster = IdleCluster(nodes, pods, groups, settings, order=backwards)
    cluster.at(0)
    assert cluster.planner.unneeded.since_ms == {"n3": 0}
    assert cluster.reasons["n1"] == "NotUnneededOtherReason"
    cluster.at(10)
    assert cluster.planner.unneeded.since_ms == {"n3": 0}


def test_a_trial_leaves_no_trace_in_the_cluster() -> None:
    """The pods are on their nodes again afterwards, in their order."""
    cluster = pair(owned("a", "n1"), owned("b", "n1"))
    outlook = cluster.at(0)
    on = {name: [pod.key for pod in at.pods] for name, at in outlook.simulation.nodes.items()}
    assert on == {"n1": ["default/a", "default/b"], "n2": ["default/load"]}
