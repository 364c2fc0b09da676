"""The planner of scale-down: which nodes are unneeded, since when, and which of them go."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from actors.autoscaler.scale_down.deletions import RunningDeletion
from actors.autoscaler.settings import AutoscalerSettings
from testbed.objects import Pod, Taint
from tests.models.worlds.idle_nodes import (
    GIB,
    IdleCluster,
    annotated,
    budget,
    group,
    idle_node,
    info,
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
def test_an_empty_node_goes_after_more_than_ten_minutes() -> None:
    """600 s are not enough."""
    cluster = pair()
    assert cluster.went(0) == ("NoUnneeded", [], [])
    assert cluster.reasons == {"n1": "NotUnneededLongEnough", "n2": "NotUnderutilized"}
    assert cluster.went(600) == ("NoUnneeded", [], [])
    assert cluster.went(600.5) == ("NodeDeleteStarted", ["n1"], [])
    assert cluster.planner.unneeded.since_ms == {}


@pytest.mark.spec("CA-26")
def test_a_node_goes_if_its_pods_have_another_place() -> None:
    """All of them, one by one; the pods that would come are then on their new nodes."""
    cluster = pair(owned("a", "n1"), owned("b", "n1"))
    cluster.went(0)
    assert cluster.went(601) == ("NodeDeleteStarted", [], ["n1"])
    full = pair(owned("a", "n1", 800), owned("b", "n1", 800))
    full.went(0)
    assert full.reasons["n1"] == "NoPlaceToMovePods"


@pytest.mark.spec("CA-26")
def test_the_pod_that_blocks_is_named() -> None:
    """With its reason, beside that of the node."""
    cluster = pair(owned("a", "n1", owner=""))
    cluster.at(0)
    why = cluster.planner.unremovable.reasons["n1"]
    assert (why.reason, why.pod, why.pod_reason) == ("BlockedByPod", "default/a", "NotReplicated")


@pytest.mark.spec("CA-27")
def test_the_verdict_of_a_trial_is_believed_for_five_minutes() -> None:
    """Only that one: utilization and annotations are looked at in every pass."""
    cluster = pair(owned("a", "n1"))
    cluster.budgets = [budget(0)]
    cluster.at(0)
    cluster.budgets = ()
    cluster.at(299)
    assert cluster.reasons["n1"] == "RecentlyUnremovable"
    assert cluster.planner.unneeded.since_ms == {}
    cluster.at(300)
    assert cluster.planner.unneeded.since_ms == {"n1": 300_000}

    busy = pair(owned("a", "n1", 3000, owner=""))
    busy.at(0)
    assert busy.reasons["n1"] == "NotUnderutilized"
    busy.pods = (LOAD,)
    busy.at(1)
    assert busy.planner.unneeded.since_ms == {"n1": 1_000}


@pytest.mark.spec("CA-27")
def test_a_clock_starts_again_after_a_pass_in_which_the_node_was_needed() -> None:
    """One is enough."""
    cluster = pair()
    cluster.at(0)
    cluster.pods = (owned("a", "n1", 3000), LOAD)
    cluster.at(300)
    cluster.pods = (LOAD,)
    cluster.at(400)
    assert cluster.planner.unneeded.since_ms == {"n1": 400_000}


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
def test_a_group_at_its_minimum_is_not_looked_at() -> None:
    """Not even its utilization is computed. Neither are nodes of no group."""
    cluster = pair()
    cluster.groups = (group("g", "n1", "n2", least=2),)
    cluster.at(0)
    assert cluster.reasons == {}
    assert not cluster.planner.utilization
    cluster.groups = (group("g", "n2"),)
    cluster.at(1)
    assert [*cluster.planner.utilization] == ["n2"]


@pytest.mark.spec("CA-25")
def test_an_annotation_keeps_a_node() -> None:
    """It is looked at in every pass."""
    cluster = pair()
    cluster.nodes = (annotated(TWO[0], scale_down_disabled="true"), TWO[1])
    cluster.at(0)
    assert cluster.reasons["n1"] == "ScaleDownDisabledAnnotation"


@pytest.mark.spec("CA-29")
def test_a_node_with_a_young_taint_is_left_alone() -> None:
    """For five minutes it counts as being deleted, whatever put the taint there."""
    tainted = Taint("ToBeDeletedByClusterAutoscaler", "100", "NoSchedule")
    cluster = pair()
    cluster.nodes = (idle_node("n1", taints=(tainted,)), TWO[1])
    cluster.at(399.9)
    assert cluster.reasons["n1"] == "CurrentlyBeingDeleted"
    cluster.at(400)
    assert "n1" in cluster.planner.unneeded


@pytest.mark.spec("CA-28")
def test_ten_empty_nodes_go_at_once() -> None:
    """Not more, and no drain beside them; which ones is left to the order of a map."""
    names = [f"e{n:02}" for n in range(12)]
    cluster = IdleCluster([idle_node(name) for name in names], (), (group("g", *names),))
    cluster.went(0)
    cluster.order = backwards
    result, empty, drained = cluster.went(601)
    assert (result, empty, drained) == ("NodeDeleteStarted", names[:1:-1], [])
    assert [*cluster.planner.unneeded.since_ms] == names[:2]


@pytest.mark.spec("CA-28")
def test_nothing_goes_while_a_node_is_drained() -> None:
    """Not even an empty one; but running deletions of empty nodes stop nothing."""
    cluster = pair()
    cluster.went(0)
    cluster.deletions.start(RunningDeletion("x", "other", drains=True))
    assert cluster.went(601) == ("InProgress", [], [])
    cluster.deletions.end("x", "ok")
    cluster.deletions.start(RunningDeletion("y", "other", drains=False))
    assert cluster.went(602) == ("NodeDeleteStarted", ["n1"], [])


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
def test_the_cluster_keeps_its_least_cores_and_memory() -> None:
    """A part of a core counts as one; nodes that are being deleted do not count."""
    cluster = pair(min_cores=5)
    cluster.went(0)
    cluster.went(601)
    assert cluster.reasons["n1"] == "MinimalResourceLimitExceeded"
    cluster = pair(min_cores=4)
    cluster.went(0)
    assert cluster.went(601)[0] == "NodeDeleteStarted"
    going = idle_node("x", taints=(Taint("ToBeDeletedByClusterAutoscaler", "601"),))
    cluster = pair(min_cores=5)
    cluster.nodes = (*TWO, going)
    cluster.went(0)
    cluster.went(601)
    assert cluster.reasons["n1"] == "MinimalResourceLimitExceeded"
    cluster = pair(min_memory=9 * GIB)
    cluster.went(0)
    cluster.went(601)
    assert cluster.reasons["n1"] == "MinimalResourceLimitExceeded"


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


@pytest.mark.spec("CA-26")
def test_a_node_still_to_come_is_no_destination() -> None:
    """It does not make another unneeded, though pods could be packed there."""
    cluster = pair(owned("a", "n1", 1800))
    cluster.upcoming = (info(idle_node("coming")),)
    outlook = cluster.at(0)
    assert cluster.reasons["n1"] == "NoPlaceToMovePods"
    assert "coming" in outlook.simulation.nodes


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
