"""The planner of which the removals add up."""

from __future__ import annotations

import pytest

from actors.autoscaler.scale_down.deletions import RunningDeletion
from actors.autoscaler.settings import AutoscalerSettings
from testbed.errors import ScenarioError
from testbed.objects import Pod, PodDisruptionBudget
from tests.models.worlds.idle_nodes import IdleCluster, budget, group, idle_node, owned

THREE = ("n1", "n2", "n3")
PARALLEL = AutoscalerSettings(parallel_drain=True, max_drain_parallelism=2)


def three(*pods: Pod, budgets: tuple[PodDisruptionBudget, ...] = ()) -> IdleCluster:
    """Three nodes of a group with these pods."""
    nodes = [idle_node(name) for name in THREE]
    return IdleCluster(nodes, pods, (group("g", *THREE),), PARALLEL, budgets)


def test_two_nodes_do_not_count_on_the_same_room() -> None:
    """One of them has pods that only fit while the other's are elsewhere; nor is a node that is to
    go a place for pods."""
    crowd = three(owned("a", "n1", 1000), owned("b", "n2", 1000), owned("c", "n3", 2500))
    crowd.at(0)
    assert [*crowd.planner.unneeded.since_ms] == ["n1"]
    roomy = three(owned("a", "n1", 500), owned("b", "n2", 500), owned("c", "n3", 2500))
    roomy.at(0)
    assert [*roomy.planner.unneeded.since_ms] == ["n1", "n2"]
    assert roomy.went(601) == ("NodeDeleteStarted", [], ["n1", "n2"])


def test_two_nodes_do_not_count_on_the_same_budget() -> None:
    """What the first removal takes is not there for the second. One that a budget lets go only in
    two steps is risky, and comes last."""
    pods = owned("a", "n1"), owned("b", "n2"), owned("c", "n3", 2500)
    short = three(*pods, budgets=(budget(1, app="web"),))
    short.at(0)
    assert [*short.planner.unneeded.since_ms] == ["n1"]
    two = (owned("a", "n1"), owned("a2", "n1"), owned("b", "n2"), owned("c", "n3", 2500))
    risky = three(*two, budgets=(budget(1, app="web"),))
    risky.at(0)
    assert [clock.removal.is_risky for clock in risky.planner.unneeded.clocks] == [True]


def test_what_is_being_deleted_is_left_out() -> None:
    """It is neither looked at nor a place for pods, and its drain keeps no other from going."""
    cluster = three(owned("a", "n1", 500), owned("b", "n2", 500), owned("c", "n3", 2500))
    cluster.deletions.start(RunningDeletion("n1", "g", drains=True))
    cluster.at(0)
    assert [*cluster.planner.unneeded.since_ms] == ["n2"]
    assert [*cluster.planner.utilization] == ["n2", "n3", "n1"]
    assert cluster.went(601) == ("NodeDeleteStarted", [], ["n2"])


def test_empty_nodes_go_first() -> None:
    """Before those that have to be drained; and the trials leave the cluster as it was."""
    cluster = three(owned("a", "n1"), owned("c", "n3", 2500))
    scene = cluster.at(0)
    assert [len(info.pods) for info in scene.simulation.nodes.values()] == [1, 0, 1]
    assert cluster.went(601) == ("NodeDeleteStarted", ["n2"], ["n1"])


def test_several_drains_need_the_planner_for_them() -> None:
    """As in 1.26, which refuses to start otherwise."""
    with pytest.raises(ScenarioError, match="parallel_drain=True"):
        AutoscalerSettings(max_drain_parallelism=2)
