"""Preemption: which pods may preempt, which are victims, and on which node; one rule in each
test."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.framework.filters import FILTERS
from actors.framework.podinfo import info_of
from actors.scheduler.decisions.decision import KEEP
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption import preempt
from actors.scheduler.switches import switches_of
from testbed.objects import Affinity, LabelSelector, Map, Object, Taint
from testbed.objects.affinity import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    TopologySpreadConstraint,
)
from testbed.objects.labels import Requirement
from tests.each_row import each_row
from tests.shared.deciding import (
    HOST,
    NOW_MS,
    ZONE,
    Picked,
    a_budget,
    a_node,
    a_pod,
    decide,
    far,
    gone,
    near,
    preemption_of,
    snapshot_of,
)

# -- who may ----------------------------------------------------------------------------------


@pytest.mark.spec("SCH-71", "SCH-74")
def test_a_pod_with_policy_never_makes_nobody_go() -> None:
    """Its message says why, and its nomination stays as it is."""
    pod = a_pod("p", 10, priority=100, preemption_policy="Never", nominated="n1")
    decision = decide(pod, a_node("n1"), a_pod("v", 5, on="n1"))
    assert decision.preemption is not None
    assert not decision.preemption.is_eligible
    assert decision.nominate is KEEP
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: not eligible due to preemptionPolicy=Never.."
    )


WAITS = "not eligible due to a terminating pod on the nominated node."


@pytest.mark.spec("SCH-72", "SCH-73")
def test_a_nominated_pod_waits_while_a_less_important_pod_is_on_its_way_there() -> None:
    """SCH-72 (b): for any reason; SCH-73: or only if that pod was preempted."""
    pod = a_pod("p", 10, priority=100, nominated="n1")
    others = [
        a_node("n1"),
        a_pod("v", 5, on="n1"),
        a_pod("t", 5, on="n1", goes="EvictionByEvictionAPI"),
    ]
    assert preemption_of(pod, *others).said == WAITS
    modern = preemption_of(pod, *others, eligibility_terminating="preempted_only")
    assert gone(modern) == ("n1", ["v", "t"])
    others[2] = a_pod("t", 5, on="n1", goes="PreemptionByScheduler")
    assert preemption_of(pod, *others, eligibility_terminating="preempted_only").said == WAITS


@pytest.mark.spec("SCH-73")
def test_a_pod_that_was_marked_and_stays_is_not_waited_for() -> None:
    """A condition alone, left by a DELETE that failed, does not mean that the pod is
    terminating."""
    marked = a_pod("t", 5, on="n1", goes="PreemptionByScheduler").with_meta(deleted_ms=None)
    pod = a_pod("p", 6, priority=100, nominated="n1")
    for terminating in ("any_lower", "preempted_only"):
        found = preemption_of(pod, a_node("n1"), marked, eligibility_terminating=terminating)
        assert gone(found) == ("n1", ["t"])


@pytest.mark.spec("SCH-70")
def test_a_pod_that_is_gone_preempts_nobody() -> None:
    """The pod is read again before it preempts."""
    things = [a_node("n1"), a_pod("v", 10, on="n1")]
    found = Feasibility(info_of(a_pod("p", priority=9)), snapshot_of(*things), FILTERS, {})
    preemption = preempt(found, None, budgets=(), switches=switches_of(), pick=Picked())
    assert (preemption.is_eligible, preemption.code) == (False, "Error")
    assert preemption.said == 'pod "p" not found'


@pytest.mark.spec("SCH-72")
@each_row("priority", [100, 101])
def test_a_pod_that_is_not_less_important_is_not_waited_for(priority: int) -> None:
    """Strictly lower, as for everything in preemption."""
    pod = a_pod("p", 6, priority=100, nominated="n1")
    leaving = a_pod("t", 5, on="n1", priority=priority, goes="DeletionByTaintManager")
    preemption = preemption_of(pod, a_node("n1"), leaving, a_node("n2"), a_pod("v", 5, on="n2"))
    assert gone(preemption) == ("n2", ["v"])


@pytest.mark.spec("SCH-72", "SCH-103")
def test_a_nominated_pod_does_not_wait_for_a_node_that_will_not_do() -> None:
    """SCH-72 (a), SCH-103: nor for a node that is gone. It may preempt elsewhere."""
    pod = a_pod("p", 6, priority=100, nominated="n1")
    on_their_way = a_pod("t", 5, on="n1", goes="DeletionByTaintManager")
    others = [on_their_way, a_node("n2"), a_pod("v", 5, on="n2")]
    tainted = a_node("n1", taints=(Taint("gpu", effect="NoSchedule"),))
    assert gone(preemption_of(pod, tainted, *others)) == ("n2", ["v"])
    assert gone(preemption_of(pod, *others[1:])) == ("n2", ["v"])


@pytest.mark.spec("SCH-75")
def test_a_pod_without_a_nomination_takes_those_that_go_anyway() -> None:
    """Terminating pods are victims like all others."""
    leaving = a_pod("t", 5, on="n1", goes="PreemptionByScheduler")
    pod = a_pod("p", 6, priority=100)
    assert gone(preemption_of(pod, a_node("n1"), leaving)) == ("n1", ["t"])


@pytest.mark.spec("SCH-50")
def test_a_nomination_may_stand_in_an_annotation() -> None:
    """SCH-50, D-7: if the switch says so, the status is not read."""
    leaving = a_pod("t", 5, on="n1", goes="PreemptionByScheduler")
    pod = a_pod("p", 6, priority=100).with_meta(
        annotations={"scheduler.kubernetes.io/nominated-node-name": "n1"}
    )
    assert preemption_of(pod, a_node("n1"), leaving, nnn_storage="annotation").said == WAITS
    assert preemption_of(pod, a_node("n1"), leaving).is_eligible


def test_no_preemption_where_it_is_switched_off() -> None:
    """D-29: the message does not mention preemption either."""
    pod = a_pod("p", 10, priority=100)
    decision = decide(pod, a_node("n1"), a_pod("v", 5, on="n1"), disable_preemption="on")
    assert decision.preemption is None
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."


# -- where ------------------------------------------------------------------------------------


def full_nodes(count: int, **victim: Any) -> list[Object]:
    """That number of nodes, each with one pod that fills it."""
    names = [f"n{n:03}" for n in range(count)]
    return [
        thing
        for name in names
        for thing in (a_node(name), a_pod(f"v-{name}", 10, on=name, **victim))
    ]


@pytest.mark.spec("SCH-77")
@each_row(("nodes", "candidates"), [(20, 20), (100, 100), (150, 100), (1200, 120)])
def test_a_tenth_of_the_nodes_is_enough_but_a_hundred_at_least(nodes: int, candidates: int) -> None:
    """The search ends with that number of candidates."""
    preemption = preemption_of(a_pod("p", 10, priority=100), *full_nodes(nodes))
    assert len(preemption.candidates) == candidates


@pytest.mark.spec("SCH-77")
def test_the_search_goes_on_until_one_candidate_breaks_no_budget() -> None:
    """Of the candidates that break one, it keeps no more than it wants."""
    things = full_nodes(130, labels={"app": "a"})
    things[-1] = a_pod("free", 10, on="n129")
    guarded = a_budget("guard", 0, {"app": "a"})
    preemption = preemption_of(a_pod("p", 10, priority=100), *things, budgets=[guarded])
    assert list(preemption.candidates) == [f"n{n:03}" for n in range(100)] + ["n129"]
    assert gone(preemption) == ("n129", ["free"])


@pytest.mark.spec("SCH-78")
def test_the_search_may_begin_anywhere() -> None:
    """With `preempt_offset=random` the first node is picked, and the others follow."""
    pick = Picked(first_node_to_preempt_on="n120")
    pod = a_pod("p", 10, priority=100)
    preemption = preemption_of(pod, *full_nodes(130), pick=pick, preempt_offset="random")
    names = [*(f"n{n:03}" for n in range(120, 130)), *(f"n{n:03}" for n in range(90))]
    assert list(preemption.candidates) == names
    label, offered = pick.asked[0]
    assert (label, offered[0], len(offered)) == ("first node to preempt on", "n000", 130)


@pytest.mark.spec("SCH-76")
def test_nodes_that_will_never_do_are_not_looked_at() -> None:
    """The nomination of the pod is cleared."""
    pod = a_pod("p", 10, priority=100, node_selector={"disk": "ssd"}, nominated="n1")
    decision = decide(pod, a_node("n1"), a_pod("v", 10, on="n1"))
    assert decision.preemption is not None
    assert not decision.preemption.refusals
    assert decision.preemption.said == (
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    assert decision.nominate == ""


@pytest.mark.spec("GEN-6")
def test_of_nodes_that_are_as_good_one_is_picked() -> None:
    """K6, GEN-6: the first by name, unless another is picked; a worse node is not offered."""
    things = [a_node("n009"), a_pod("dear", 10, on="n009", priority=1), *full_nodes(3)[::-1]]
    pick = Picked(node_to_preempt_on="n002")
    preemption = preemption_of(a_pod("p", 10, priority=100), *things, pick=pick)
    assert pick.asked == [("node to preempt on", ("n000", "n001", "n002"))]
    assert preemption.tied == ("n000", "n001", "n002")
    assert gone(preemption) == ("n002", ["v-n002"])


@pytest.mark.spec("SCH-91", "SCH-92")
@each_row(
    ("losses", "better"),
    [
        ([("a", 10, 5, 0)], [("b", 10, 4, 0)]),
        ([("a", 10, 4, 0)], [("b", 5, 3, 0), ("c", 5, 4, 0)]),
        ([("b", 5, 4, 0), ("c", 5, 2, 0)], [("d", 5, 4, 0), ("e", 5, 1, 0)]),
        ([("a", 5, -4, 0), ("b", 5, -4, 0)], [("c", 10, -4, 0)]),
        ([("a", 10, 4, 8)], [("b", 10, 4, 9)]),
        ([("a", 5, 4, 8), ("b", 5, 4, 3)], [("c", 5, 4, 4), ("d", 5, 4, 4)]),
        ([("a", 5, 4, 3), ("b", 5, 2, 9)], [("c", 5, 4, 4), ("d", 5, 2, 0)]),
    ],
    ids=[
        "K2",
        "K3 counts pods",
        "K3 sums",
        "K3 of negative ones",
        "K5",
        "K5 of the oldest",
        "K5 of the highest",
    ],
)
def test_the_node_that_loses_least_is_chosen(
    losses: list[tuple[str, int, int, int]], better: list[tuple[str, int, int, int]]
) -> None:
    """SCH-92, key by key; the better node stands last by name, so nothing else decides."""
    if losses[0][1:3] == (10, 4) and len(better) == 2:
        losses, better = better, losses
    pods = [
        a_pod(name, units, on=node, priority=priority, start=start)
        for node, each in (("n1", losses), ("n2", better))
        for name, units, priority, start in each
    ]
    preemption = preemption_of(a_pod("p", 10, priority=9), a_node("n1"), a_node("n2"), *pods)
    assert preemption.tied == ("n2",)


@pytest.mark.spec("SCH-93")
def test_a_victim_that_has_not_started_counts_as_started_now() -> None:
    """That is the latest possible start."""
    things = [
        a_node("n1"),
        a_node("n2"),
        a_pod("a", 10, on="n1"),
        a_pod("b", 10, on="n2", start=None),
    ]
    preemption = preemption_of(a_pod("p", 10, priority=9), *things)
    assert preemption.candidates["n2"].keys[-1] == -NOW_MS
    assert gone(preemption) == ("n2", ["b"])


@pytest.mark.spec("SCH-94", "SCH-95")
def test_golden_timeline_7_budgets_come_first() -> None:
    """GT-7, SCH-94, SCH-95, D-15: a broken budget is worse than a more important victim. If both
    nodes break one, the priority decides. `ignore` looks at no budget; `strict` never breaks
    one."""
    things = [a_node("n1"), a_node("n2"), a_pod("x", 10, on="n1", priority=5, labels={"app": "x"})]
    things += [a_pod("y", 10, on="n2", priority=50, labels={"app": "y"})]
    pod, x, y = (
        a_pod("p", 10, priority=100),
        a_budget("x", 0, {"app": "x"}),
        a_budget("y", 0, {"app": "y"}),
    )
    assert gone(preemption_of(pod, *things, budgets=[x])) == ("n2", ["y"])
    both = preemption_of(pod, *things, budgets=[x, y])
    assert gone(both) == ("n1", ["x"])
    assert both.chosen is not None
    assert both.chosen.violations == 1
    assert gone(preemption_of(pod, *things, budgets=[x], pdb_mode="ignore")) == ("n1", ["x"])
    assert gone(preemption_of(pod, *things, budgets=[x], pdb_mode="strict")) == ("n2", ["y"])
    none = preemption_of(pod, *things, budgets=[x, y], pdb_mode="strict")
    assert none.said == (
        "0/2 nodes are available: 2 node(s) had only victims that a budget protects."
    )


@pytest.mark.spec("SCH-87")
def test_the_first_victim_stands_for_the_most_important_one() -> None:
    """SCH-87, D-16: a protected victim of low priority stands before a more important one, so that
    its node seems cheaper; unless the victims are sorted."""
    things = [a_node("n1"), a_pod("low", 5, on="n1", priority=1, labels={"app": "a"})]
    things += [a_pod("high", 5, on="n1", priority=8)]
    things += [a_node("n2"), a_pod("mid", 10, on="n2", priority=5, labels={"app": "a"})]
    pod, guard = a_pod("p", 10, priority=100), a_budget("guard", 0, {"app": "a"})
    assert gone(preemption_of(pod, *things, budgets=[guard])) == ("n1", ["low", "high"])
    mended = preemption_of(pod, *things, budgets=[guard], bug_victims_unsorted="off")
    assert gone(mended) == ("n2", ["mid"])
    assert [v.meta.name for v in mended.candidates["n1"].victims] == ["high", "low"]


# -- what becomes of others -------------------------------------------------------------------


@pytest.mark.spec("SCH-100")
def test_less_important_nominations_on_the_node_are_taken_back() -> None:
    """Strictly less important, and on the chosen node only."""
    things = [
        a_node("n1"),
        a_node("n2"),
        a_pod("v", 10, on="n1"),
        a_pod("w", 10, on="n2", priority=9),
    ]
    waiting = [
        a_pod("less", 1, priority=99, nominated="n1"),
        a_pod("same", 1, priority=100, nominated="n1"),
        a_pod("elsewhere", 1, priority=1, nominated="n2"),
    ]
    preemption = preemption_of(a_pod("p", 9, priority=100), *things, *waiting)
    assert gone(preemption) == ("n1", ["v"])
    assert preemption.chosen is not None
    assert [pod.meta.name for pod in preemption.chosen.lower] == ["less"]


@pytest.mark.spec("SCH-100")
def test_less_important_nominations_may_stay_where_they_still_fit() -> None:
    """SCH-100, D-10: with `clear_lower=only_if_unfit`, beside the pod and without its victims."""
    things = [a_node("n1"), a_pod("v", 10, on="n1")]
    waiting = [
        a_pod("fits", 4, priority=1, nominated="n1"),
        a_pod("no", 5, priority=2, nominated="n1"),
    ]
    pod = a_pod("p", 6, priority=100)
    preemption = preemption_of(pod, *things, *waiting, clear_lower="only_if_unfit")
    assert preemption.chosen is not None
    assert [other.meta.name for other in preemption.chosen.lower] == ["no"]


@pytest.mark.spec("SCH-100")
def test_of_less_important_nominations_the_more_important_stay() -> None:
    """If there is room for one of two, their order does not matter."""
    things = [a_node("n1"), a_pod("v", 10, on="n1")]
    waiting = [a_pod(name, 4, priority=n, nominated="n1") for n, name in ((1, "low"), (2, "high"))]
    pod = a_pod("p", 6, priority=100)
    preemption = preemption_of(pod, *things, *waiting, clear_lower="only_if_unfit")
    assert preemption.chosen is not None
    assert [other.meta.name for other in preemption.chosen.lower] == ["low"]


@pytest.mark.spec("SCH-100")
def test_a_nominated_pod_is_not_counted_twice_where_it_is_nominated() -> None:
    """A pod that fits beside the preemptor fits even if it was nominated there before."""
    things = [a_node("n1"), a_pod("v", 10, on="n1"), a_pod("low", 4, priority=1, nominated="n1")]
    pod = a_pod("p", 6, priority=100, nominated="n1")
    preemption = preemption_of(pod, *things, clear_lower="only_if_unfit")
    assert preemption.chosen is not None
    assert preemption.chosen.lower == ()


@pytest.mark.spec("SCH-80")
def test_room_is_made_beside_pods_that_are_nominated_there() -> None:
    """Equally important nominated pods count; less important ones do not."""
    things = [a_node("n1"), *(a_pod(f"v{n}", 2, on="n1", start=n) for n in range(5))]
    pod = a_pod("p", 4, priority=100)
    same, less = (a_pod(f"q{n}", 4, priority=n, nominated="n1") for n in (100, 99))
    assert gone(preemption_of(pod, *things, less)) == ("n1", ["v3", "v4"])
    assert gone(preemption_of(pod, *things, same)) == ("n1", ["v1", "v2", "v3", "v4"])


def test_a_hostile_scheduler_outranks_what_another_has_placed() -> None:
    """Pods of other schedulers go before its own, whatever their priority."""
    things = [
        a_node("n1"),
        a_pod("theirs", 5, on="n1", priority=1000, scheduler_name="b"),
        a_pod("ours", 5, on="n1", priority=1, scheduler_name="a"),
    ]
    pod = a_pod("p", 5, priority=100, scheduler_name="a")
    assert gone(preemption_of(pod, *things)) == ("n1", ["ours"])
    assert gone(preemption_of(pod, *things, hostile="on")) == ("n1", ["theirs"])


# -- whom it is near --------------------------------------------------------------------------

Q_AND_U = (
    a_node("n1"),
    a_node("n2"),
    a_pod("u", 1, on="n1", labels={"app": "u"}),
    a_pod("q", 1, on="n2", labels={"app": "q"}),
)
"""Of one zone: on n1 a pod that nobody minds, on n2 one that P must not be near."""


def only_on(node: str, *, by_name: bool = False) -> NodeAffinity:
    """Node affinity to that one node."""
    asked = (Requirement("metadata.name" if by_name else HOST, "In", (node,)),)
    term = NodeSelectorTerm((), asked) if by_name else NodeSelectorTerm(asked)
    return NodeAffinity(NodeSelector((term,)))


@pytest.mark.spec("SCH-116")
def test_golden_timeline_8_a_pod_of_the_same_node_clears_its_zone() -> None:
    """GT-8, SCH-116: Q is a victim, as it is on n2 itself."""
    decision = decide(a_pod("p", 1, priority=100, affinity=far(ZONE, app="q")), *Q_AND_U)
    assert decision.message == (
        "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
    )
    assert decision.preemption is not None
    assert gone(decision.preemption) == ("n2", ["q"])
    assert decision.nominate == "n2"


@pytest.mark.spec("SCH-107")
@each_row("by_name", [False, True])
def test_golden_timeline_8_a_pod_of_another_node_does_not_go(by_name: bool) -> None:
    """GT-8, SCH-107, D-13: P may only go to n1, by a label or by its name, and Q stays."""
    rules = Affinity(only_on("n1", by_name=by_name), None, far(ZONE, app="q").pod_anti_affinity)
    pod = a_pod("p", 1, priority=100, affinity=rules)
    decision = decide(pod, *Q_AND_U)
    near_q, not_n1 = (
        "1 node(s) didn't match pod anti-affinity rules",
        "1 node(s) didn't match Pod's node affinity/selector",
    )
    if by_name:
        filters, tried = near_q, f"{not_n1}, {near_q}"
    else:
        filters, tried = (
            f"{not_n1}, {near_q}",
            f"1 Preemption is not helpful for scheduling, {near_q}",
        )
    assert decision.message == (
        f"0/2 nodes are available: {filters}. preemption: 0/2 nodes are available: {tried}.."
    )
    reached = decide(pod, *Q_AND_U, cross_node_victims="1")
    assert reached.preemption is not None
    assert gone(reached.preemption) == ("n1", ["q"])
    assert reached.preemption.tried == 2
    assert reached.nominate == "n1"


@pytest.mark.spec("SCH-106")
def test_far_victims_are_few_and_on_few_nodes() -> None:
    """Sets of more pods, or on more nodes, than allowed are not tried. The smallest set that helps
    is taken, and pods that need not go are reprieved."""
    nodes = [a_node(f"n{n}") for n in range(1, 4)]
    others = [a_pod(f"q{n}", 1, on=f"n{n}", labels={"app": "q"}) for n in (2, 3)]
    rules = Affinity(only_on("n1"), None, far(ZONE, app="q").pod_anti_affinity)
    pod = a_pod("p", 10, priority=100, affinity=rules)
    things = [*nodes, *others, a_pod("u", 1, on="n1"), a_pod("far", 1, on="n2")]
    assert preemption_of(pod, *things, cross_node_victims="1").chosen is None
    narrow = preemption_of(pod, *things, cross_node_victims="2", cross_node_nodes="1")
    assert narrow.chosen is None
    assert gone(preemption_of(pod, *things, cross_node_victims="2")) == ("n1", ["u", "q2", "q3"])


@pytest.mark.spec("SCH-106")
def test_far_victims_are_those_in_the_way_that_may_go() -> None:
    """Pods with an anti-affinity to the preemptor, those that it has one to, or those that are too
    many where pods are spread; not the more important ones, and none if that does not help."""
    nodes = [a_node("n1"), a_node("n2"), a_node("n3", zone="y")]
    q = a_pod("q", 1, on="n2", labels={"app": "q"})
    lonely = a_pod("lonely", 1, on="n2", affinity=far(ZONE, app="p"))
    loud = a_pod("loud", 1, on="n2", affinity=far(ZONE, app="p"), priority=999)
    confined = Affinity(only_on("n1"), None, far(ZONE, app="q").pod_anti_affinity)
    pod = a_pod("p", 1, priority=100, labels={"app": "p"}, affinity=confined)
    found = preemption_of(pod, *nodes, q, lonely, cross_node_victims="2")
    assert gone(found) == ("n1", ["q", "lonely"])
    none = preemption_of(pod, *nodes, q, loud, cross_node_victims="2")
    assert none.chosen is None
    assert none.tried == 1
    kind = LabelSelector(Map({"app": "q"}))
    rule = TopologySpreadConstraint(1, ZONE, "DoNotSchedule", kind, node_affinity_policy="Ignore")
    asked: dict[str, Any] = {"topology_spread": (rule,), "node_selector": {HOST: "n1"}}
    spread = a_pod("p", 1, priority=100, labels={"app": "q"}, **asked)
    assert gone(preemption_of(spread, *nodes, q, cross_node_victims="1")) == ("n1", ["q"])


@pytest.mark.spec("SCH-81")
def test_golden_timeline_9_affinity_to_a_victim_is_not_kept() -> None:
    """GT-9, SCH-81, D-14: P must be near W, a potential victim: so no pod goes, and P waits."""
    w_and_x = (a_node("n"), a_pod("w", 4, on="n", labels={"app": "w"}), a_pod("x", 4, on="n"))
    decision = decide(a_pod("p", 5, priority=100, affinity=near(HOST, app="w")), *w_and_x)
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules.."
    )
    assert decision.nominate == ""
    pod = a_pod("p", 5, priority=100, affinity=near(HOST, app="w"))
    spared = preemption_of(pod, *w_and_x, affinity_to_victims="3")
    assert gone(spared) == ("n", ["x"])
    assert spared.tried == 1
    large = a_pod("p", 11, priority=100, affinity=near(HOST, app="w"))
    assert preemption_of(large, *w_and_x, affinity_to_victims="3").tried == 0


@pytest.mark.spec("SCH-105")
def test_sets_that_are_spared_for_affinity_grow_until_one_fits() -> None:
    """A pod that is too large to stay is skipped; no set is larger than allowed."""
    pod = a_pod("p", 5, priority=100, affinity=near(HOST, app="w"))
    large = a_pod("large", 6, on="n", labels={"app": "w"}, priority=1)
    small = a_pod("small", 3, on="n", labels={"app": "w"})
    found = preemption_of(pod, a_node("n"), large, small, affinity_to_victims="2")
    assert gone(found) == ("n", ["large"])
    assert found.tried == 2
    others = [a_pod(f"x{n}", 1, on="n", priority=9) for n in range(3)]
    assert (
        preemption_of(pod, a_node("n"), large, small, *others, affinity_to_victims="1").tried == 2
    )
    other = attrs.evolve(large, meta=attrs.evolve(large.meta, name="other", uid="other"))
    heavy = a_pod("p", 7, priority=100, affinity=near(HOST, app="w"))
    for sets, pods_max in ((2, "1"), (3, "2"), (3, "3")):
        none = preemption_of(heavy, a_node("n", 12), large, other, affinity_to_victims=pods_max)
        assert none.chosen is None
        assert none.tried == sets
