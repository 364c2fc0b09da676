"""The filters one by one: what each refuses, in which words, and whether preemption may help."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.framework.cluster_events import (
    ANY_POD,
    NODE_ADDED,
    NODE_DELETED,
    NODE_LABELS,
    NODE_TAINTS,
    NODE_UPDATED,
    POD_DELETED,
)
from actors.framework.filters import FILTERS
from actors.framework.podinfo import info_of
from actors.framework.refusal import Refusal
from actors.scheduler.placing import feasibility as filtering
from testbed.objects import (
    Affinity,
    Container,
    LabelSelector,
    Map,
    Node,
    Pod,
    Quantity,
    Requirement,
    Resources,
    Taint,
    Toleration,
)
from testbed.objects.affinity import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from testbed.objects.meta import Object
from testbed.objects.pod import Port
from tests.each_row import each_row
from tests.shared.deciding import HOST, ZONE, a_node, a_pod, decide, far, near

UNEVEN = "node(s) didn't match pod topology spread constraints"


@pytest.fixture(autouse=True, params=[100, 0], ids=["each", "all"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with filtering node by node, and with filtering by columns."""
    monkeypatch.setattr(filtering, "FEW", request.param)


def refusals(pod: Pod, *things: Object) -> dict[str, tuple[str, ...]]:
    """The reasons of each node that is not feasible."""
    return {name: each.reasons for name, each in decide(pod, *things).refusals.items()}


def the_refusal(pod: Pod, *things: Object) -> Refusal:
    """The Refusal of the only node."""
    (refusal,) = decide(pod, *things).refusals.values()
    return refusal


@pytest.mark.spec("SCH-56")
def test_the_filters_are_asked_in_their_order() -> None:
    """In the order of Kubernetes; the first that refuses gives the Refusal."""
    assert [each.name for each in FILTERS] == [
        "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
        "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    ]  # fmt: skip
    worst = a_node("n1", 0, unschedulable=True, taints=(Taint("k", "v", "NoSchedule"),))
    assert the_refusal(a_pod("p"), worst).filter == "NodeUnschedulable"
    full = a_pod("p", affinity=near(HOST, app="x"))
    assert the_refusal(full, a_node("n1", 0)).filter == "NodeResourcesFit"


@pytest.mark.spec("SCH-22")
def test_each_filter_waits_for_what_may_change_its_mind() -> None:
    """No other event requeues a pod that it refused."""
    updates, place = NODE_UPDATED | {NODE_ADDED}, ANY_POD | {NODE_ADDED, NODE_LABELS}
    room = updates | {POD_DELETED}
    assert [each.wakes for each in FILTERS] == [
        {NODE_ADDED, NODE_TAINTS}, updates, updates, updates, room, room,
        place | {NODE_DELETED}, place,
    ]  # fmt: skip


@pytest.mark.spec("SCH-57")
def test_a_cordoned_node_takes_only_those_that_tolerate_it() -> None:
    """Preemption cannot help. The pod tolerates a taint that the node need not have."""
    node = a_node("n1", unschedulable=True)
    assert the_refusal(a_pod("p"), node) == Refusal(
        "NodeUnschedulable", ("node(s) were unschedulable",), is_resolvable=False
    )
    tolerant = (Toleration("node.kubernetes.io/unschedulable", "Exists", effect="NoSchedule"),)
    assert decide(a_pod("p", tolerations=tolerant), node).node == "n1"


@pytest.mark.spec("SCH-57")
def test_a_pod_that_names_its_node_goes_nowhere_else() -> None:
    """Even if other nodes have room."""
    pod = a_pod("p", on="n2")
    assert decide(pod, a_node("n1"), a_node("n2")).node == "n2"
    assert the_refusal(pod, a_node("n1")) == Refusal(
        "NodeName", ("node(s) didn't match the requested node name",), is_resolvable=False
    )


@pytest.mark.spec("SCH-57")
@each_row(("taint", "toleration", "fits"), [
    (Taint("k", "v", "NoSchedule"), None, False),
    (Taint("k", "v", "NoExecute"), None, False),
    (Taint("k", "v", "PreferNoSchedule"), None, True),
    (Taint("k", "v", "NoSchedule"), Toleration("k", "Equal", "v", "NoSchedule"), True),
    (Taint("k", "v", "NoSchedule"), Toleration("k", "Equal", "w"), False),
    (Taint("k", "v", "NoExecute"), Toleration("k", "Exists", effect="NoSchedule"), False),
    (Taint("k", "v", "NoExecute"), Toleration("", "Exists"), True),
])  # fmt: skip
def test_a_taint_keeps_away_pods_that_do_not_tolerate_it(
    taint: Taint, toleration: Toleration | None, fits: bool
) -> None:
    """The reason names the first taint that is not tolerated."""
    pod = a_pod("p", tolerations=(toleration,) if toleration else ())
    node = a_node("n1", taints=(Taint("soft", "", "PreferNoSchedule"), taint))
    if fits:
        assert decide(pod, node).node == "n1"
        return
    assert the_refusal(pod, node) == Refusal(
        "TaintToleration", ("node(s) had untolerated taint {k: v}",), is_resolvable=False
    )


def wanting(*terms: NodeSelectorTerm) -> Affinity:
    """Node affinity with these terms."""
    return Affinity(NodeAffinity(NodeSelector(terms)))


@pytest.mark.spec("SCH-57")
@each_row(("spec", "fits"), [
    ({"node_selector": {"disk": "ssd"}}, True),
    ({"node_selector": {"disk": "hdd"}}, False),
    ({"affinity": wanting(NodeSelectorTerm((Requirement("size", "Gt", ("2",)),)))}, True),
    ({"affinity": wanting(NodeSelectorTerm((Requirement("size", "Lt", ("2",)),)))}, False),
    ({"affinity": wanting(NodeSelectorTerm())}, False),
    ({"affinity": wanting()}, False),
    ({"affinity": Affinity(NodeAffinity())}, True),
    ({"affinity": wanting(NodeSelectorTerm(), NodeSelectorTerm((Requirement("disk", "Exists"),)))},
     True),
    ({"node_selector": {"disk": "hdd"},
      "affinity": wanting(NodeSelectorTerm((Requirement("disk", "Exists"),)))}, False),
])  # fmt: skip
def test_a_node_must_be_as_the_pod_wants_it(spec: dict[str, Any], fits: bool) -> None:
    """It must match the selector and one of the terms; an empty term matches no node."""
    pod, node = a_pod("p", **spec), a_node("n1", labels={"disk": "ssd", "size": "3"})
    if fits:
        assert decide(pod, node).node == "n1"
        return
    said = "node(s) didn't match Pod's node affinity/selector"
    assert the_refusal(pod, node) == Refusal("NodeAffinity", (said,), is_resolvable=False)


@pytest.mark.spec("SCH-56", "SCH-57")
@each_row(("new", "taken", "clashes"), [
    (("", ""), ("", "TCP"), True),
    (("10.0.0.1", ""), ("0.0.0.0", ""), True),
    (("0.0.0.0", ""), ("10.0.0.1", ""), True),
    (("10.0.0.1", ""), ("10.0.0.1", ""), True),
    (("10.0.0.1", ""), ("10.0.0.2", ""), False),
    (("", "UDP"), ("", "TCP"), False),
    (("::", ""), ("10.0.0.1", ""), False),
])  # fmt: skip
def test_a_port_of_a_node_is_one_pods(
    new: tuple[str, str], taken: tuple[str, str], clashes: bool
) -> None:
    """Compared by address and protocol; preemption may help."""
    pod = Pod.of("p", containers=(Container("m", ports=(Port(80, 8080, *new),)),))
    other = Pod.of(
        "o", containers=(Container("m", ports=(Port(80, 8080, *taken),)),), node_name="n1"
    )
    found = decide(pod, a_node("n1"), other)
    assert bool(found.feasible) != clashes
    if clashes:
        said = "node(s) didn't have free ports for the requested pod ports"
        assert the_refusal(pod, a_node("n1"), other) == Refusal("NodePorts", (said,))
    for free in (Port(80, 8081), Port(8080)):
        pod = Pod.of("p", containers=(Container("m", ports=(free,)),))
        assert decide(pod, a_node("n1"), other).node == "n1"


@pytest.mark.spec("SCH-58", "SCH-57")
def test_every_lacking_resource_is_named() -> None:
    """Pods first, then cpu, memory, ephemeral storage, and the others by name. Preemption counts
    as possible (SCH-57), even if the empty node is too small."""
    node = a_node("n1", 1, pods=1)
    asked = {name: Quantity.parse(2**41) for name in ("z.io/z", "memory", "ephemeral-storage")}
    main = Container("main", resources=attrs.evolve(Container().resources, requests=Map(asked)))
    pod = Pod.of("p", containers=(main, *a_pod("q", 2).spec.containers))
    refusal = the_refusal(pod, node, a_pod("r", None, on="n1"))
    assert refusal == Refusal("NodeResourcesFit", (
        "Too many pods", "Insufficient cpu", "Insufficient memory",
        "Insufficient ephemeral-storage", "Insufficient z.io/z",
    ))  # fmt: skip


@pytest.mark.spec("SCH-58")
def test_a_pod_without_requests_needs_only_a_place() -> None:
    """It goes to an overcommitted node. A pod with any request is refused there, also because of
    resources that it does not request."""
    crowd = [a_pod("a", 9, on="n1"), a_pod("b", 9, on="n1")]
    assert decide(a_pod("p", None), a_node("n1"), *crowd).node == "n1"
    assert decide(a_pod("p", 0), a_node("n1"), *crowd).node == "n1"
    none = Container("c", resources=Resources(Map({"x.io/g": Quantity.parse(0)})))
    for thirsty in (Pod.of("p", memory=1), Pod.of("p", containers=(none,))):
        assert refusals(thirsty, a_node("n1"), *crowd) == {"n1": ("Insufficient cpu",)}
    assert refusals(a_pod("p", None), a_node("n1", pods=2), *crowd) == {"n1": ("Too many pods",)}


@pytest.mark.spec("GEN-11")
def test_a_pod_may_request_exactly_what_is_left() -> None:
    """Integers are compared, and equal is enough."""
    node, other = a_node("n1", 10), a_pod("a", 7, on="n1")
    assert decide(a_pod("p", 3), node, other).node == "n1"
    assert refusals(Pod.of("p", cpu_m=3001), node, other) == {"n1": ("Insufficient cpu",)}


def spread(skew: int = 1, key: str = ZONE, **rest: Any) -> TopologySpreadConstraint:
    """A constraint that spreads the pods of the app."""
    selector = LabelSelector(Map(app="a"))
    return TopologySpreadConstraint(skew, key, "DoNotSchedule", selector, **rest)


def an_a(name: str, on: str = "", **spec: Any) -> Pod:
    """A pod of the app."""
    return a_pod(name, on=on, labels={"app": "a"}, **spec)


@pytest.mark.spec("SCH-57")
def test_pods_are_spread_over_zones() -> None:
    """One pod more than in the emptiest zone is allowed; preemption may help against more."""
    things = [a_node("n1", zone="x"), a_node("n2", zone="y"), an_a("a1", "n1"), an_a("a2", "n1")]
    pod = an_a("p", topology_spread=(spread(),))
    assert decide(pod, *things).feasible == ("n2",)
    assert the_refusal(pod, *things) == Refusal("PodTopologySpread", (UNEVEN,))
    assert decide(an_a("p", topology_spread=(spread(3),)), *things).feasible == ("n1", "n2")
    other = a_pod("p", labels={"app": "b"}, topology_spread=(spread(2),))
    assert decide(other, *things).feasible == ("n1", "n2"), "it is none of them itself"


@pytest.mark.spec("SCH-57")
def test_a_node_without_the_label_is_unresolvable() -> None:
    """Preemption cannot help."""
    pod = an_a("p", topology_spread=(spread(key="rack"),))
    out = Refusal("PodTopologySpread", (f"{UNEVEN} (missing required label)",), is_resolvable=False)
    assert the_refusal(pod, a_node("n1")) == out
    both = an_a("p", topology_spread=(spread(), spread(key="rack")))
    assert the_refusal(both, a_node("n1")) == out, "where nothing is counted, nothing is uneven"


@pytest.mark.spec("SCH-57")
def test_the_first_constraint_that_fails_is_told() -> None:
    """Node n3 is in a full zone, where preemption may help, and has no rack."""
    rack = {"rack": "r"}
    things = [a_node("n1", zone="x", labels=rack), a_node("n2", zone="y", labels=rack)]
    full = [a_node("n3", zone="x"), an_a("a1", "n1")]
    zone_first = an_a("p", topology_spread=(spread(), spread(key="rack")))
    assert decide(zone_first, *things, *full).refusals["n3"].is_resolvable
    rack_first = an_a("p", topology_spread=(spread(key="rack"), spread()))
    assert not decide(rack_first, *things, *full).refusals["n3"].is_resolvable


def test_terminating_pods_and_other_namespaces_are_not_counted() -> None:
    """As in 1.26."""
    things = [a_node("n1", zone="x"), a_node("n2", zone="y")]
    going = an_a("g", "n1", goes="because")
    elsewhere = Pod.of("other/e", labels={"app": "a"}, node_name="n1")
    pod = an_a("p", topology_spread=(spread(),))
    assert decide(pod, *things, going, elsewhere).feasible == ("n1", "n2")
    assert decide(pod, *things, going, an_a("a", "n1")).feasible == ("n2",), "one that stays is"


def test_an_empty_selector_spreads_all_pods_and_no_selector_none() -> None:
    """As before 1.27: an empty selector matches all pods."""
    things = [a_node("n1", zone="x"), a_node("n2", zone="y"), a_pod("o", on="n1")]
    for selector, feasible in ((LabelSelector(), ("n2",)), (None, ("n1", "n2"))):
        rule = attrs.evolve(spread(), label_selector=selector)
        assert decide(a_pod("p", topology_spread=(rule,)), *things).feasible == feasible


def test_min_domains_is_ignored() -> None:
    """The field minDomains was off by default in 1.26, so one zone with pods is enough."""
    things = [a_node("n1", zone="x"), an_a("a1", "n1")]
    few = an_a("p", topology_spread=(spread(min_domains=2),))
    assert decide(few, *things).node == "n1"


@each_row(("policies", "feasible"), [
    ({}, ("n1",)),
    ({"node_affinity_policy": "Ignore"}, ()),
    ({"node_taints_policy": "Honor"}, ("n1",)),
])  # fmt: skip
def test_nodes_where_a_pod_could_not_be_are_left_out(
    policies: dict[str, Any], feasible: tuple[str, ...]
) -> None:
    """By default, nodeAffinityPolicy is Honor and nodeTaintsPolicy is Ignore."""
    things = [a_node("n1", zone="x"), a_node("n2", zone="y"), an_a("a1", "n1")]
    pod = an_a("p", node_selector={HOST: "n1"}, topology_spread=(spread(**policies),))
    assert decide(pod, *things).feasible == feasible


def test_a_tainted_node_counts_unless_that_is_said() -> None:
    """By nodeTaintsPolicy: its zone is empty, so no other zone may have more than one pod."""
    taint = Taint("k", "v", "NoSchedule")
    things = [a_node("n1", zone="x"), a_node("n2", zone="y", taints=(taint,)), an_a("a1", "n1")]
    assert decide(an_a("p", topology_spread=(spread(),)), *things).feasible == ()
    honest = an_a("p", topology_spread=(spread(node_taints_policy="Honor"),))
    assert decide(honest, *things).feasible == ("n1",)


@pytest.mark.spec("SCH-113", "SCH-114")
def test_affinity_needs_a_pod_that_matches_all_terms() -> None:
    """Two pods that match one term each are not enough, a node needs the topology key, and
    preemption cannot help."""
    x, y = (PodAffinityTerm(HOST, LabelSelector(Map({key: "1"}))) for key in ("x", "y"))
    both = Affinity(pod_affinity=PodAffinity((x, y)))
    halves = [a_pod("x", on="n1", labels={"x": "1"}), a_pod("y", on="n1", labels={"y": "1"})]
    refusal = the_refusal(a_pod("p", affinity=both), a_node("n1"), *halves)
    assert refusal == Refusal(
        "InterPodAffinity", ("node(s) didn't match pod affinity rules",), is_resolvable=False
    )
    whole = a_pod("xy", on="n1", labels={"x": "1", "y": "1"})
    bare = Node.of("n2", cpu_m=9000, memory=9)
    found = decide(a_pod("p", affinity=both), a_node("n1"), bare, whole)
    assert found.feasible == ("n1",)


@pytest.mark.spec("SCH-114")
def test_the_first_of_a_kind_may_go_anywhere_with_the_key() -> None:
    """If no pod anywhere matches and the pod matches itself."""
    own, bare = near(ZONE, app="a"), Node.of("n2", cpu_m=9000, memory=9)
    assert decide(an_a("p", affinity=own), a_node("n1"), bare).feasible == ("n1",)
    assert decide(a_pod("p", affinity=own), a_node("n1"), bare).feasible == ()
    there = [a_node("n1", zone="x"), a_node("n2", zone="y"), an_a("a", "n1")]
    assert decide(an_a("p", affinity=own), *there).feasible == ("n1",)


@pytest.mark.spec("SCH-115", "SCH-57")
def test_anti_affinity_holds_both_ways() -> None:
    """That of the pod, and that of pods there; in the whole zone, and also of terminating pods.
    Preemption may help against both (SCH-57)."""
    nodes = [a_node("n1", zone="x"), a_node("n2", zone="x"), a_node("n3", zone="y")]
    shunned = decide(a_pod("p", affinity=far(ZONE, app="a")), *nodes, an_a("a", "n1", goes="so"))
    assert shunned.feasible == ("n3",)
    assert shunned.refusals["n2"] == Refusal(
        "InterPodAffinity", ("node(s) didn't match pod anti-affinity rules",)
    )
    shy = a_pod("q", on="n1", affinity=far(ZONE, app="a"))
    shunning = decide(an_a("p"), *nodes, shy)
    assert shunning.feasible == ("n3",)
    assert shunning.refusals["n2"] == Refusal(
        "InterPodAffinity", ("node(s) didn't satisfy existing pods anti-affinity rules",)
    )


@pytest.mark.spec("SCH-113")
@each_row(("namespaces", "selector", "means_it"), [
    ((), None, False),
    (("other",), None, True),
    (("default",), None, False),
    ((), LabelSelector(), True),
    ((), LabelSelector(Map(team="x")), True),
    ((), LabelSelector(Map(team="y")), False),
    (("default",), LabelSelector(Map(team="x")), True),
])  # fmt: skip
def test_a_term_matches_pods_of_its_namespaces(
    namespaces: tuple[str, ...], selector: LabelSelector | None, means_it: bool
) -> None:
    """The namespace of the pod if the term has none and no selector; an empty selector matches
    all."""
    term = PodAffinityTerm(HOST, LabelSelector(), namespaces, selector)
    pod = info_of(a_pod("p", affinity=Affinity(pod_affinity=PodAffinity((term,)))))
    other = info_of(Pod.of("other/o"))
    assert pod.affinity[0].matches(other, {"other": {"team": "x"}}) == means_it


def test_a_term_with_a_namespace_selector_matches_its_own_only_if_selected() -> None:
    """SCH-113: only a term without any namespaces is about the pod's own."""
    term = PodAffinityTerm(HOST, LabelSelector(), (), LabelSelector(Map(team="x")))
    pod = info_of(a_pod("p", affinity=Affinity(pod_affinity=PodAffinity((term,)))))
    assert not pod.affinity[0].matches(pod, {})
    assert pod.affinity[0].matches(pod, {"default": {"team": "x"}})
