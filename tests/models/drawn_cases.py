"""Situations as Hypothesis draws them: small, and with all that a cycle may look at."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import strategies as st

from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import LabelSelector, Map, Meta, Node, Pod, PodDisruptionBudget, Requirement
from testbed.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredNodes,
    PreferredPods,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from testbed.objects.condition import Condition
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.pod import Container, Port, Resources, qos_of
from testbed.objects.quantity import amounts

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
ANNOTATION = "scheduler.kubernetes.io/nominated-node-name"
KEYS = (HOSTNAME, ZONE, "rack")
NAMESPACES = {"default": {"team": "a"}, "other": {"team": "b"}}
NOW_MS = 100_000
some = st.sampled_from
seldom = some([False] * 11 + [True])
often = some([True, True, True, False])
rarely = some([False, False, False, True])


@attrs.frozen
class Situation:
    """One pod to place, and all that is to be looked at for it."""

    nodes: tuple[Node, ...]
    bound: tuple[Pod, ...]
    nominated: tuple[tuple[Pod, str], ...]
    budgets: tuple[PodDisruptionBudget, ...]
    pod: Pod
    switches: SchedulerSwitches
    turn: int
    """Which alternative is picked, counted round."""


def _or_none(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.none() | strategy


labels = some(
    [{}, {"app": "a"}, {"app": "b"}, {"app": "a", "tier": "x"}, {"app": "b", "tier": "x"}]
)
selectors = some(
    [
        LabelSelector({"app": "a"}),
        LabelSelector({"app": "b"}),
        LabelSelector({"tier": "x"}),
        LabelSelector({}, (Requirement("app", "NotIn", ("a",)),)),
        None,
    ]
)
terms = st.builds(
    PodAffinityTerm,
    some(KEYS),
    selectors | st.just(LabelSelector()),
    some([(), (), ("other",)]),
    some([None, None, None, LabelSelector(), LabelSelector({"team": "b"})]),
)
preferred = st.builds(PreferredPods, some([1, 10, 100]), terms)
pod_affinities = st.builds(
    PodAffinity,
    st.lists(terms, max_size=2).map(tuple),
    _or_none(st.lists(preferred, max_size=2).map(tuple)).map(lambda each: each or ()),
)
node_terms = some(
    [
        NodeSelectorTerm((Requirement(ZONE, "In", ("z1",)),)),
        NodeSelectorTerm((Requirement("rack", "Exists"),)),
        NodeSelectorTerm((Requirement("size", "Gt", ("1",)),)),
        NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n1", "n2")),)),
        NodeSelectorTerm(
            (Requirement("rack", "Exists"),), (Requirement("metadata.name", "In", ("n1",)),)
        ),
        NodeSelectorTerm(
            (),
            (
                Requirement("metadata.name", "In", ("n1",)),
                Requirement("metadata.name", "In", ("n2",)),
            ),
        ),
        NodeSelectorTerm((), (Requirement("metadata.name", "In", ("nowhere",)),)),
        NodeSelectorTerm(),
    ]
)
node_affinities = st.builds(
    NodeAffinity,
    _or_none(st.builds(NodeSelector, st.lists(node_terms, min_size=1, max_size=2).map(tuple))),
    st.lists(st.builds(PreferredNodes, some([1, 5, 50]), node_terms), max_size=2).map(tuple),
)
affinities = st.builds(
    Affinity, _or_none(node_affinities), _or_none(pod_affinities), _or_none(pod_affinities)
)
spreads = st.builds(
    TopologySpreadConstraint,
    some([1, 2]),
    some(KEYS),
    some(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
    selectors
    | st.just(LabelSelector({}, (Requirement("app", "Exists"),)))
    | some([LabelSelector(), None]),
    min_domains=some([None, None, 2]),
    node_affinity_policy=some([None, "Honor", "Ignore"]),
    node_taints_policy=some([None, "Honor", "Ignore"]),
)
taints = some(
    [
        Taint("dedicated", "x", "NoSchedule"),
        Taint("dedicated", "y", "NoExecute"),
        Taint("slow", "", "PreferNoSchedule"),
        Taint("dedicated", "x", "PreferNoSchedule"),
    ]
)
tolerations = some(
    [
        Toleration(operator="Exists"),
        Toleration("dedicated", "Equal", "x"),
        Toleration("dedicated", "Exists", effect="NoExecute"),
        Toleration("node.kubernetes.io/unschedulable", "Exists"),
        Toleration("slow", "Exists", effect="PreferNoSchedule"),
    ]
)
asks = st.fixed_dictionaries(
    {},
    optional={
        "cpu": some(["500m", "1", "1500m", "250m", "3", "0"]),
        "memory": some(["0", "64Mi", "512Mi", "1Gi"]),
    },
)
more_asks = some([{}] * 10 + [{"example.com/gpu": "1"}, {"ephemeral-storage": "1Gi"}])
ports = st.builds(
    Port, st.just(80), some([0, 80, 81]), some(["", "10.0.0.1", "10.0.0.2"]), some(["", "UDP"])
)
containers = st.builds(
    lambda asked, more, limited, ports: Container(
        "c",
        resources=Resources(amounts({**asked, **more}), amounts(asked if limited else {})),
        ports=tuple(ports),
    ),
    asks,
    more_asks,
    st.booleans(),
    _or_none(st.lists(ports, max_size=1)).map(lambda each: each or ()),
)
large = st.builds(
    lambda cpu: Container("c", resources=Resources(amounts({"cpu": cpu}))),
    some(["1", "2", "500m"]),
)
switches = st.builds(
    SchedulerSwitches,
    nominated_accounting=some(["ge_priority", "ge_priority", "none"]),
    own_nomination=some(["try_first", "ignore"]),
    nnn_storage=some(["status", "status", "annotation"]),
    placement=some(["least_allocated", "most_allocated", "first_fit_by_name"]),
    disable_preemption=rarely,
    eligibility_terminating=some(["any_lower", "preempted_only"]),
    preempt_offset=some(["0", "random"]),
    victim_tiebreak=some(["start_time", "qos", "qos_then_start", "none"]),
    victim_last_tie=some(["added", "name"]),
    reprieve_order=some(["desc", "desc", "asc"]),
    victim_minimisation=some(["greedy", "greedy", "min_count"]),
    pdb_mode=some(["best_effort", "best_effort", "strict", "ignore"]),
    bug_victims_unsorted=st.booleans(),
    clear_lower=some(["all", "only_if_unfit"]),
    affinity_to_victims=some([0, 0, 1, 2]),
    cross_node_victims=some([0, 0, 1, 2]),
    cross_node_nodes=some([1, 2]),
    hostile=rarely,
    victim_primary=some(["priority", "priority", "qos"]),
    preemptor=some(["scheduler"] * 6 + ["kubelet", "rescheduler"]),
)
"""All that concern a decision; half of what is drawn is as it is in 1.26."""


@st.composite
def nodes(draw: st.DrawFn, name: str, *, is_plain: bool) -> Node:
    """A node of that name; a plain one keeps nobody away and is soon full."""
    known = {HOSTNAME: name, "size": draw(some(["1", "2", "big"]))}
    for key, values in ((ZONE, ["z1", "z2", ""]), ("rack", ["r1", "r2", ""])):
        value = draw(some(values))
        known |= {key: value} if value else {}
    node = Node.of(
        name,
        cpu_m=draw(some([2000, 1000] if is_plain else [2000, 1000, 4000, 0])),
        memory=draw(some([2**32, 2**30, 2**29])),
        pods=draw(some([110, 110, 110, 3, 2, 1])),
        labels=known,
        unschedulable=not is_plain and draw(rarely),
        taints=() if is_plain else tuple(draw(st.lists(taints, max_size=2))),
    )
    more = amounts({"example.com/gpu": "1", "ephemeral-storage": "1Gi"})
    has = Map({**node.status.allocatable, **(more if draw(often) else {})})
    return attrs.evolve(node, status=attrs.evolve(node.status, allocatable=has))


@st.composite
def pods(draw: st.DrawFn, name: str, node: str = "", nominated: str = "") -> Pod:
    """A pod of that name, on that node, or nominated to that one."""
    one = draw(containers)
    pod = Pod.of(
        f"{draw(some(['default', 'default', 'other']))}/{name}",
        labels=draw(labels),
        containers=(one, draw(containers)) if draw(rarely) else (one,),
        init_containers=(draw(containers),) if draw(rarely) else (),
        overhead=amounts({"cpu": "300m", "memory": "16Mi"}) if draw(rarely) else Map(),
        node_name=node,
        scheduler_name=draw(some(["one", "one", "one", "two"])),
        priority=draw(some([0, 5, -5, 10, 20, None])),
        affinity=draw(affinities) if draw(rarely) else None,
        node_selector=Map({ZONE: "z1"} if draw(seldom) else {}),
        tolerations=tuple(draw(st.lists(tolerations, max_size=1))),
        topology_spread=tuple(draw(st.lists(spreads, max_size=2))) if draw(rarely) else (),
    )
    condition = Condition("DisruptionTarget", "True", "PreemptionByKubeScheduler")
    status = attrs.evolve(
        pod.status,
        nominated_node_name=nominated if draw(often) else "",
        qos_class=qos_of(pod.spec),
        start_ms=draw(some([None, 1000, 2000, 3000])) if node else None,
        conditions=(condition,) if node and draw(st.booleans()) else (),
    )
    meta = attrs.evolve(
        pod.meta,
        uid=f"uid-{name}",
        deleted_ms=5000 if draw(rarely if node else seldom) else None,
        annotations=Map({ANNOTATION: nominated} if nominated and draw(often) else {}),
    )
    return attrs.evolve(pod, meta=meta, status=status)


@st.composite
def budgets(draw: st.DrawFn, name: str) -> PodDisruptionBudget:
    """A budget of that name."""
    return PodDisruptionBudget(
        Meta(name, draw(some(["default", "other"]))),
        spec=PodDisruptionBudgetSpec(selector=draw(selectors | st.just(LabelSelector()))),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=draw(some([0, 0, 1, 2])),
            disrupted_pods=Map({"p1": 0} if draw(rarely) else {}),
        ),
    )


@st.composite
def situations(draw: st.DrawFn, *, nodes_max: int = 4, pods_max: int = 8) -> Situation:
    """One of them; half are crowded, and the pod important. The smallest is a pod and a node."""
    is_crowded = draw(st.booleans())
    names = [f"n{n}" for n in range(1, draw(st.integers(1, nodes_max)) + 1)]
    least = pods_max // 2 if is_crowded else 0
    homes = draw(st.lists(some([*names * 9, "nowhere"]), min_size=least, max_size=pods_max))
    waits = draw(st.lists(some([*names * 9, "nowhere"]), max_size=3))
    own = draw(some(["", "", *names, "nowhere"]))
    pod = draw(pods("pending", nominated=own))
    spec = attrs.evolve(
        pod.spec,
        priority=draw(some([10, 20] if is_crowded else [10, 0, -5])),
        preemption_policy="Never" if draw(seldom) else "",
        containers=(draw(large) if is_crowded else draw(containers),),
    )
    pod = attrs.evolve(pod, spec=spec)
    queued = [(draw(pods(f"q{n}", nominated=node)), node) for n, node in enumerate(waits)]
    return Situation(
        tuple(draw(nodes(name, is_plain=is_crowded)) for name in names),
        tuple(draw(pods(f"p{n}", node)) for n, node in enumerate(homes)),
        (*queued, (pod, own)) if own else tuple(queued),
        tuple(draw(budgets(f"b{n}")) for n in range(draw(some([0, 1, 2])))),
        pod,
        draw(switches) if draw(st.booleans()) else SchedulerSwitches(),
        draw(some([0, 1, 7])),
    )
