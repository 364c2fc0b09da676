"""Known results of the rules, for each path: so the two cannot be wrong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from actors.scheduler.decisions.decision import Decision
from actors.scheduler.switches import switches_of
from testbed.objects import Affinity, LabelSelector, Map, Meta, Node, Pod, PodDisruptionBudget
from testbed.objects.affinity import PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.pod import Container, Port, qos_of
from tests.conformance.test_drawn import by_reference, by_scheduler
from tests.models.drawn_cases import Situation

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
Path = Callable[[Situation], Decision]
both = pytest.mark.parametrize("path", [by_reference, by_scheduler])


def pod(name: str, cpu: int = 1, priority: int = 0, node: str = "", **spec: Any) -> Pod:
    """A pod that requests this many cpus."""
    labels = spec.pop("labels", None)
    made = Pod.of(name, cpu_m=1000 * cpu, priority=priority, labels=labels, node_name=node, **spec)
    status = attrs.evolve(made.status, start_ms=0 if node else None, qos_class=qos_of(made.spec))
    return attrs.evolve(made, status=status).with_meta(uid=f"uid-{name}")


def node(name: str, cpu: int = 10, zone: str = "z") -> Node:
    """A node with this many cpus."""
    return Node.of(name, cpu_m=1000 * cpu, memory=2**40, labels={HOSTNAME: name, ZONE: zone})


def placing(
    wanted: Pod,
    *bound: Pod,
    nodes: tuple[Node, ...] = (),
    nominated: tuple[tuple[Pod, str], ...] = (),
    budgets: tuple[PodDisruptionBudget, ...] = (),
    profile: str = "k8s-1.26",
    **switches: str,
) -> Situation:
    """A situation with that pod to schedule and these there, on one node by default."""
    known = switches_of(profile, switches)
    return Situation(nodes or (node("n1"),), bound, nominated, budgets, wanted, known, 0)


def budget(app: str, allowed: int) -> PodDisruptionBudget:
    """A budget that allows this many disruptions of the application."""
    return PodDisruptionBudget(
        Meta(f"of-{app}", "default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector({"app": app})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def terms(key: str, app: str) -> PodAffinity:
    """Terms for pods of that application in one topology domain."""
    return PodAffinity((PodAffinityTerm(key, LabelSelector({"app": app})),))


def victims(decision: Decision) -> tuple[str, list[str]]:
    """The node where the pod preempts, and its victims."""
    found = decision.preemption
    assert found is not None
    if found.chosen is None:
        return "", []
    return found.chosen.node, [each.meta.name for each in found.chosen.victims]


@both
@pytest.mark.spec("SCH-82", "SCH-85", "SCH-86")
def test_victims_are_spared_from_the_top(path: Path) -> None:
    """GT-5: one large pod is evicted, although smaller ones are less important; the fewest
    victims are another switch."""
    there = [pod(f"p{n}", cpu, n, "n1") for n, cpu in enumerate((3, 1, 5, 1))]
    assert victims(path(placing(pod("new", 5, 10), *there))) == ("n1", ["p2"])
    fewest = placing(pod("new", 5, 10), *there, victim_minimisation="min_count")
    assert victims(path(fewest)) == ("n1", ["p2"])
    there = [pod("h", 5, 3, "n1"), pod("m", 3, 2, "n1"), pod("l", 2, 1, "n1")]
    assert victims(path(placing(pod("new", 5, 10), *there))) == ("n1", ["m", "l"])
    fewest = placing(pod("new", 5, 10), *there, victim_minimisation="min_count")
    assert victims(path(fewest)) == ("n1", ["h"])


@both
@pytest.mark.spec("SCH-86")
def test_of_sets_of_one_size_the_least_important_goes(path: Path) -> None:
    """By the order of importance, whether a budget protects a pod or not; and to a hostile
    scheduler no pod of another one counts as much as its own."""
    there = [pod(f"p{n}", cpu, 1, "n1") for n, cpu in enumerate((5, 6, 4, 3), 1)]
    there[1:3] = [each.with_meta(labels=Map(app="a")) for each in there[1:3]]
    tight: dict[str, Any] = {"nodes": (node("n1", 18),), "budgets": (budget("a", 0),)}
    fewest: dict[str, Any] = {"victim_minimisation": "min_count"}
    decision = path(placing(pod("new", 9, 10), *there, **tight, **fewest))
    assert victims(decision) == ("n1", ["p2", "p4"])
    own, foreign = pod("own", 5, 0, "n1"), pod("foreign", 5, 20, "n1", scheduler_name="beta")
    hostile = placing(pod("new", 5, 10), own, foreign, hostile="on", **fewest)
    assert victims(path(hostile)) == ("n1", ["foreign"])


@both
@pytest.mark.spec("SCH-84", "SCH-91", "SCH-94", "SCH-95")
def test_budgets_come_before_priorities(path: Path) -> None:
    """GT-7: where no budget is violated; where both are, by priority; in `alpha` by priority
    alone; with `strict`, nowhere."""
    nodes = (node("n1", 1), node("n2", 1))
    there = (pod("x", 1, 5, "n1", labels={"app": "x"}), pod("y", 1, 50, "n2", labels={"app": "y"}))
    wanted, one, two = pod("new", 1, 100), budget("x", 0), budget("y", 0)
    assert victims(path(placing(wanted, *there, nodes=nodes, budgets=(one,)))) == ("n2", ["y"])
    assert victims(path(placing(wanted, *there, nodes=nodes, budgets=(one, two))))[0] == "n1"
    old = placing(wanted, *there, nodes=nodes, budgets=(one,), profile="alpha")
    assert victims(path(old)) == ("n1", ["x"])
    strict = placing(wanted, *there, nodes=nodes, budgets=(one, two), pdb_mode="strict")
    assert victims(path(strict)) == ("", [])


@both
@pytest.mark.spec("SCH-107", "SCH-106", "SCH-116")
def test_who_is_in_the_way_elsewhere_stays(path: Path) -> None:
    """GT-8: a pod of the same zone keeps it away. That pod is evicted from its own node or not
    at all, except with the experiment."""
    nodes = (node("n1", 2), node("n2", 2))
    q = pod("q", 1, 0, "n2", labels={"app": "q"})
    apart = Affinity(pod_anti_affinity=terms(ZONE, "q"))
    wanted = pod("p", 1, 100, affinity=apart)
    assert victims(path(placing(wanted, q, pod("o", 1, 0, "n1"), nodes=nodes))) == ("n2", ["q"])
    only = pod("p", 1, 100, affinity=apart, node_selector=Map({HOSTNAME: "n1"}))
    decision = path(placing(only, q, nodes=nodes))
    assert decision.message == (
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) didn't match pod anti-affinity rules. preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling.."
    )
    experiment = placing(only, q, nodes=nodes, cross_node_victims="1")
    assert victims(path(experiment)) == ("n1", ["q"])


@both
@pytest.mark.spec("SCH-106")
def test_some_far_pods_may_have_to_stay(path: Path) -> None:
    """Spread over hosts and zones: without the only pods of a host, its own host has too many."""
    rules = tuple(
        TopologySpreadConstraint(
            1, key, "DoNotSchedule", LabelSelector({"app": "a"}), node_affinity_policy="Ignore"
        )
        for key in (HOSTNAME, ZONE)
    )
    places = (("x", 99, "n1"), ("y", 0, "n2"), ("z", 0, "n2"), ("v", 99, "n3"), ("w", 99, "n3"))
    there = [pod(name, 1, priority, on, labels={"app": "a"}) for name, priority, on in places]
    only_n1: dict[str, Any] = {"node_selector": {HOSTNAME: "n1"}, "labels": {"app": "a"}}
    wanted = pod("new", 1, 10, topology_spread=rules, **only_n1)
    nodes = (node("n1"), node("n2"), node("n3", zone="y"))
    assert victims(path(placing(wanted, *there, nodes=nodes, cross_node_victims="2"))) == (
        "n1", ["z"],
    )  # fmt: skip


@both
@pytest.mark.spec("SCH-82", "SCH-83", "SCH-106")
def test_far_pods_that_have_not_started_come_in_their_order(path: Path) -> None:
    """Among equal pods the first added is the most important, and the last of those without a start
    time; on another node as on its own."""
    apart = Affinity(pod_anti_affinity=terms(ZONE, "a"))
    wanted = pod("new", 1, 10, affinity=apart, node_selector={HOSTNAME: "n1"})
    started = [pod(name, 1, 0, "n2", labels={"app": "a"}) for name in ("x", "y")]
    nodes = (node("n1"), node("n2"))
    given: dict[str, Any] = {"nodes": nodes, "cross_node_victims": "2"}
    assert victims(path(placing(wanted, *started, **given))) == ("n1", ["x", "y"])
    fresh = [attrs.evolve(p, status=attrs.evolve(p.status, start_ms=None)) for p in started]
    assert victims(path(placing(wanted, *fresh, **given))) == ("n1", ["y", "x"])


@both
@pytest.mark.spec("SCH-81", "SCH-105")
def test_who_must_be_near_a_victim_stays_away(path: Path) -> None:
    """GT-9: without its victims it has no pod to be near, except with the experiment."""
    there = (pod("w", 4, 0, "n1", labels={"app": "w"}), pod("x", 4, 0, "n1"))
    wanted = pod("p", 5, 100, affinity=Affinity(pod_affinity=terms(HOSTNAME, "w")))
    decision = path(placing(wanted, *there))
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 node(s) didn't match pod affinity rules.."
    )
    assert decision.nominate == ""
    assert victims(path(placing(wanted, *there, affinity_to_victims="3"))) == ("n1", ["x"])


@both
@pytest.mark.spec("SCH-59", "SCH-60", "SCH-100")
def test_who_is_nominated_is_there_already(path: Path) -> None:
    """For pods of no higher priority. A nominated pod of lower priority loses its nomination."""
    awaited = pod("awaited", 8, 50)
    small = path(placing(pod("small", 3, 10), nominated=((awaited, "n1"),)))
    assert (small.node, small.message) == (
        "",
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod..",
    )
    full = placing(pod("big", 3, 100), pod("a", 9, 0, "n1"), nominated=((awaited, "n1"),))
    preemption = path(full).preemption
    assert preemption is not None
    assert preemption.chosen is not None
    assert [each.meta.name for each in preemption.chosen.lower] == ["awaited"]


@both
@pytest.mark.spec("SCH-100")
def test_who_loses_its_nomination_takes_no_room_from_others(path: Path) -> None:
    """With `clear_lower=only_if_unfit` the more important one is asked first, and is out then. Of
    two equal ones, the one that was nominated first."""
    waiting = ((pod("large", 8, 50), "n1"), (pod("small", 2, 40), "n1"), (pod("new", 8, 90), "n1"))
    full = placing(
        waiting[2][0], pod("a", 9, 0, "n1"), nominated=waiting, clear_lower="only_if_unfit"
    )
    preemption = path(full).preemption
    assert preemption is not None
    assert preemption.chosen is not None
    assert [each.meta.name for each in preemption.chosen.lower] == ["large"]
    equal = tuple((pod(name, 2, 50), "n1") for name in ("one", "two"))
    full = placing(
        pod("new", 8, 90), pod("a", 9, 0, "n1"), nominated=equal, clear_lower="only_if_unfit"
    )
    preemption = path(full).preemption
    assert preemption is not None
    assert preemption.chosen is not None
    assert [each.meta.name for each in preemption.chosen.lower] == ["two"]


@both
@pytest.mark.spec("SCH-57")
def test_ports_and_evenness_are_looked_at(path: Path) -> None:
    """A host port is used once; no domain has more pods above the emptiest than allowed."""
    port = Container("c", ports=(Port(80, 80),))
    taken = path(placing(pod("p", containers=(port,)), pod("q", 0, 0, "n1", containers=(port,))))
    assert taken.refusals["n1"].reasons == (
        "node(s) didn't have free ports for the requested pod ports",
    )
    even = TopologySpreadConstraint(1, ZONE, "DoNotSchedule", LabelSelector({"app": "a"}))
    nodes = (node("n1", zone="y"), node("n2", zone="z"))
    there = pod("q", 1, 0, "n1", labels={"app": "a"})
    wanted = pod("p", 1, labels={"app": "a"}, topology_spread=(even,))
    assert path(placing(wanted, there, nodes=nodes)).feasible == ("n2",)


@both
@pytest.mark.spec("SCH-53", "SCH-52")
def test_some_pods_are_refused_at_once(path: Path) -> None:
    """Without nodes; the nomination is cleared then."""
    there_is_none = Situation((), (), (), (), pod("p"), switches_of(), 0)
    decision = path(there_is_none)
    assert (decision.message, decision.nominate) == ("no nodes available to schedule pods", "")
