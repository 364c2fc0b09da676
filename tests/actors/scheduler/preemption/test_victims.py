"""Victims: which potential victims go, in what order, and which are reprieved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.framework.podinfo import PodInfo, info_of
from actors.scheduler.preemption.budgets import Budgets
from actors.scheduler.preemption.dry_run import DryRun
from testbed.objects import (
    LabelSelector,
    Map,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    Quantity,
    Requirement,
)
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED
from tests.each_row import each_row
from tests.shared.deciding import UNIT, a_budget, a_node, a_pod, gone, preemption_of

P = a_pod("p", 5, priority=10)


def on_n(name: str, units: int | None, priority: int = 0, **more: Any) -> Pod:
    """A pod that runs on the node n."""
    return a_pod(name, units, on="n", priority=priority, **more)


def victims(*things: Pod, pod: Pod = P, units: int = 10, **given: Any) -> list[str]:
    """The victims on that node."""
    return gone(preemption_of(pod, a_node("n", units), *things, **given))[1]


GT_5 = [on_n("p0", 3, 0), on_n("p1", 1, 1), on_n("p2", 5, 2), on_n("p3", 1, 3)]
COUNTER_CASE = [on_n("h", 5, 3), on_n("m", 3, 2), on_n("l", 2, 1)]


@pytest.mark.spec("SCH-86")
@each_row(
    ("things", "greedy", "fewest"),
    [(GT_5, ["p2"], ["p2"]), (COUNTER_CASE, ["m", "l"], ["h"])],
    ids=["golden", "counter-case"],
)
def test_golden_timeline_5_least_important_or_fewest(
    things: list[Pod], greedy: list[str], fewest: list[str]
) -> None:
    """GT-5, SCH-86, D-2: the greedy way loses the least important pods, not the fewest."""
    assert victims(*things) == greedy
    assert victims(*reversed(things)) == greedy
    assert victims(*things, victim_minimisation="min_count") == fewest


@pytest.mark.spec("SCH-85")
def test_the_less_important_may_be_asked_first() -> None:
    """SCH-85, D-3: in `asc` order they are reprieved at the cost of the others."""
    assert victims(*GT_5, reprieve_order="asc") == ["p2"]
    assert victims(*COUNTER_CASE, reprieve_order="asc") == ["h"]


@pytest.mark.spec("SCH-85")
def test_a_pod_that_cannot_stay_does_not_stop_the_next() -> None:
    """Each pod is tried, even if one before it did not fit."""
    assert victims(on_n("a", 4, 3), on_n("b", 3, 2), on_n("c", 1, 1)) == ["b"]


@pytest.mark.spec("SCH-79")
def test_only_pods_of_lower_priority_may_go() -> None:
    """A pod of equal priority stays. If no priority is lower, the selector is not asked."""
    assert victims(on_n("same", 5, 10), on_n("less", 5, 9)) == ["less"]
    preemption = preemption_of(P, a_node("n"), on_n("same", 10, 10))
    assert preemption.said == (
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


@pytest.mark.spec("SCH-89")
def test_a_pod_that_asks_for_nothing_goes_only_for_a_place() -> None:
    """SCH-89, D-4: it is a victim only if the node may hold no more pods."""
    idle = on_n("idle", None, 0)
    assert victims(idle, on_n("v", 10, 5)) == ["v"]
    small = [a_node("n", 100, pods=1), idle]
    assert gone(preemption_of(P, *small)) == ("n", ["idle"])


@pytest.mark.spec("SCH-90", "GEN-12")
def test_only_what_was_asked_for_is_freed() -> None:
    """A pod that may use nine times its request frees no more than its request."""
    greedy = on_n("greedy", 1, 0)
    (main,) = greedy.spec.containers
    limits = Map({"cpu": Quantity.parse("9")})
    main = attrs.evolve(main, resources=attrs.evolve(main.resources, limits=limits))
    greedy = attrs.evolve(greedy, spec=attrs.evolve(greedy.spec, containers=(main,)))
    things = [greedy, on_n("v", 1, 5), on_n("stays", 8, 10)]
    assert victims(*things, pod=a_pod("p", 2, priority=10)) == ["v", "greedy"]


EQUALS = (
    on_n("old", 5, start=1, qos=BEST_EFFORT),
    on_n("young", 5, start=2, qos=BEST_EFFORT),
    on_n("older", 5, start=0, qos=BURSTABLE),
    on_n("youngest", 5, start=3, qos=GUARANTEED),
    on_n("starting", 5, start=None, qos=GUARANTEED),
)


@pytest.mark.spec("SCH-82")
@each_row(
    ("tie", "order"),
    [
        ("start_time", ["older", "old", "young", "youngest", "starting"]),
        ("qos", ["youngest", "starting", "older", "old", "young"]),
        ("qos_then_start", ["youngest", "starting", "older", "old", "young"]),
        ("none", ["old", "young", "older", "youngest", "starting"]),
    ],
)
def test_of_equal_priority_others_things_count(tie: str, order: list[str]) -> None:
    """SCH-82, D-1: which pod is reprieved first, by each value of the switch."""
    things = EQUALS if tie != "qos_then_start" else EQUALS[::-1]
    for spared in range(5):
        went = victims(
            *things, units=25, pod=a_pod("p", 25 - 5 * spared, priority=1), victim_tiebreak=tie
        )
        assert went == order[spared:]


@pytest.mark.spec("SCH-83")
def test_what_is_equal_otherwise_is_told_apart_by_age_or_by_name() -> None:
    """In 1.26 the order in which they came to the node; elsewhere the name."""
    things = [on_n("b", 5), on_n("a", 5)]
    assert victims(*things) == ["a"]
    assert victims(*things, victim_last_tie="name") == ["b"]
    for profile in ("alpha", "seed", "k8s-modern"):
        assert victims(*things, profile=profile) == ["b"]


@pytest.mark.spec("SCH-83")
def test_of_pods_that_have_not_started_the_last_is_spared_first() -> None:
    """Kubernetes reads the clock for each of them. A pod that has started counts for more."""
    waiting = [on_n(name, 2, start=None) for name in "abc"]
    things = [*waiting[:2], on_n("runs", 2, start=5), waiting[2]]
    for spared, went in enumerate((["runs", "c", "b", "a"], ["c", "b", "a"], ["b", "a"], ["a"])):
        pod = a_pod("p", 8 - 2 * spared, priority=10)
        assert victims(*things, pod=pod, units=8) == went
    assert victims(*waiting, pod=a_pod("p", 2, priority=10), units=6) == ["a"]
    for switch in ({"victim_last_tie": "name"}, {"victim_tiebreak": "none"}):
        assert victims(*waiting, pod=a_pod("p", 2, priority=10), units=6, **switch) == ["c"]


@pytest.mark.spec("SCH-85", "SCH-87")
def test_protected_pods_are_spared_first() -> None:
    """Whatever their priority; if they go, they are first among the victims."""
    things = [on_n("plain", 5, 9), on_n("kept", 3, 2, labels={"app": "a"})]
    things += [on_n("lost", 2, 1, labels={"app": "a"})]
    guard = a_budget("guard", 0, {"app": "a"})
    assert victims(*things, budgets=[guard]) == ["plain"]
    pod = a_pod("p", 6, priority=10)
    preemption = preemption_of(pod, a_node("n"), *things, budgets=[guard])
    assert gone(preemption) == ("n", ["lost", "plain"])
    assert preemption.chosen is not None
    assert preemption.chosen.violations == 1


# -- budgets ----------------------------------------------------------------------------------


def protected(pods: Sequence[Pod], *budgets: PodDisruptionBudget) -> list[str]:
    """The names of the pods that these budgets protect."""
    return [info.pod.meta.name for info in Budgets(budgets).split([info_of(p) for p in pods])[0]]


APP = {"app": "a"}
THREE = [on_n(name, 1, labels=APP) for name in ("a", "b", "c")]


@pytest.mark.spec("SCH-84")
def test_a_budget_is_used_up_from_the_first_on() -> None:
    """Pods that are reprieved later use it up, too."""
    assert protected(THREE, a_budget("guard", 2, APP)) == ["c"]
    things = [on_n("top", 1, 9, labels=APP), on_n("low", 9, 1, labels=APP)]
    preemption = preemption_of(P, a_node("n"), *things, budgets=[a_budget("guard", 1, APP)])
    assert gone(preemption) == ("n", ["low"])
    assert preemption.chosen is not None
    assert preemption.chosen.violations == 1


@pytest.mark.spec("SCH-84")
def test_every_budget_of_a_pod_counts() -> None:
    """A pod of two budgets uses up both, and breaks either."""
    wide, narrow = a_budget("wide", 3, APP), a_budget("narrow", 1, {"tier": "x"})
    pods = [
        THREE[0],
        on_n("x", 1, labels={**APP, "tier": "x"}),
        on_n("y", 1, labels={**APP, "tier": "x"}),
    ]
    assert protected([*pods, THREE[1]], wide, narrow) == ["y", "b"]
    assert protected([*pods, THREE[1]], narrow, wide) == ["y", "b"]


@pytest.mark.spec("SCH-84")
def test_a_budget_is_about_pods_it_means() -> None:
    """SCH-84, API-47: pods of its namespace, with labels, not counted as disrupted yet. An empty
    selector covers none."""
    assert protected(THREE, a_budget("guard", 0, {})) == []
    assert protected(THREE, a_budget("other/guard", 0, APP)) == []
    without = LabelSelector(match_expressions=(Requirement("app", "DoesNotExist"),))
    spec = PodDisruptionBudgetSpec(selector=without)
    of_others = attrs.evolve(a_budget("guard", 0, APP), spec=spec)
    assert protected([on_n("bare", 1)], of_others) == []
    assert protected([on_n("other", 1, labels={"tier": "x"})], of_others) == ["other"]
    counted_out = a_budget("guard", 0, APP, disrupted_pods=Map({"b": 0}))
    assert protected(THREE, counted_out) == ["a", "c"]


# -- the fewest -------------------------------------------------------------------------------

PODS = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 3), st.booleans()), min_size=1, max_size=6
)


@pytest.mark.spec("SCH-86")
@given(pods=PODS, wanted=st.integers(1, 12), allowed=st.integers(0, 2))
def test_the_fewest_are_the_best_of_all_sets(
    pods: list[tuple[int, int, bool]], wanted: int, allowed: int
) -> None:
    """It finds the set that is best among all sets there are."""
    guard, units = a_budget("guard", allowed, APP), sum(units for units, _, _ in pods)
    things = [
        on_n(f"v{n}", units, priority, labels=APP if is_covered else {})
        for n, (units, priority, is_covered) in enumerate(pods)
    ]
    pod = a_pod("p", min(wanted, units), priority=10)
    found = preemption_of(
        pod, a_node("n", units), *things, budgets=[guard], victim_minimisation="min_count"
    )
    assert found.chosen is not None
    important = sorted(things, key=lambda each: (-each.priority, things.index(each)))
    guarded = protected(important, guard)

    def loss(some: Sequence[Pod]) -> tuple[int, int, list[int]]:
        broken = sum(each.meta.name in guarded for each in some)
        return broken, len(some), sorted((each.priority for each in some), reverse=True)

    sets = [s for size in range(1, len(things) + 1) for s in combinations(things, size)]
    enough = [s for s in sets if sum(asked(each) for each in s) >= asked(pod)]
    assert loss(found.chosen.victims) == min(map(loss, enough))
    assert found.chosen.violations == loss(found.chosen.victims)[0]


@pytest.mark.spec("SCH-86")
def test_of_as_few_the_least_important_go() -> None:
    """Those of the lowest priorities; of equal ones, those that came last."""
    things = [on_n("a", 4, 2), on_n("b", 3, 2), on_n("c", 2, 1), on_n("d", 1, 0)]
    assert victims(*things, victim_minimisation="min_count") == ["a", "d"]
    twins = [on_n("old", 5, start=1), on_n("young", 5, start=2)]
    assert victims(*twins, victim_minimisation="min_count") == ["young"]


def test_a_hostile_scheduler_loses_none_of_its_own_for_fewer() -> None:
    """Of sets as small, one of others' pods goes, whatever their priority."""
    theirs = on_n("theirs", 5, 3, scheduler_name="b")
    ours = on_n("ours", 5, 1, scheduler_name="a")
    pod = a_pod("p", 5, priority=10, scheduler_name="a")
    assert victims(theirs, ours, pod=pod, victim_minimisation="min_count") == ["ours"]
    hostile: dict[str, Any] = {"victim_minimisation": "min_count", "hostile": "on"}
    assert victims(theirs, ours, pod=pod, **hostile) == ["theirs"]


def asked(pod: Pod) -> int:
    """How many units it requests."""
    return info_of(pod).requests["cpu"] // UNIT


@pytest.mark.spec("SCH-86")
def test_too_many_sets_are_not_tried() -> None:
    """The greedy set is taken if the fewest are not found within the limit."""
    things = [on_n(f"v{n:02}", 2 if n < 20 else 1, 20 - n // 20) for n in range(40)]
    pod = a_pod("p", 24, priority=99)
    found = preemption_of(pod, a_node("n", 60), *things, victim_minimisation="min_count")
    greedy = preemption_of(pod, a_node("n", 60), *things)
    assert gone(found) == gone(greedy)
    assert found.tried == 10_000


# -- a selector of one's own ------------------------------------------------------------------


class LargestFirst:
    """Takes the largest pods away until the preemptor fits."""

    name = "largest_first"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """As few as that takes."""
        some: list[PodInfo] = []
        for info in sorted(dry.potential, key=lambda info: -info.requests["cpu"]):
            if not dry.fits_without(some):
                some.append(info)
        return some


class Nobody:
    """Takes no pod away."""

    name = "nobody"

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """None."""
        return ()


def test_a_selector_of_ones_own_chooses_the_victims() -> None:
    """Ten lines are enough; it may ask about any set."""
    found = preemption_of(P, a_node("n"), *COUNTER_CASE, selector=LargestFirst())
    assert gone(found) == ("n", ["h"])
    assert found.tried == 3


@pytest.mark.spec("SCH-88")
def test_a_node_without_victims_is_an_error() -> None:
    """If it is the only one, so is the preemption, and a nomination stays as it is."""
    found = preemption_of(P, a_node("n"), *GT_5, selector=Nobody())
    assert found.code == "Error"
    assert found.said == 'expected at least one victim pod on node "n"'
