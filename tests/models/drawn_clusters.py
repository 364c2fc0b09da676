"""Small clusters as Hypothesis draws them: crowded, tainted, full of rules, and of few values."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import strategies as st

from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import SchedulerCache
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
from testbed.objects.pod import Port

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
KEYS = st.sampled_from([ZONE, HOST])
APPS = st.sampled_from(["a", "b"])
NAMESPACES = st.sampled_from(["default", "other"])
LABELS: tuple[dict[str, str], ...] = (
    {},
    {ZONE: "z0"},
    {ZONE: "z1", "disk": "ssd"},
    {ZONE: "z1", "size": "1"},
    {ZONE: "z0", "size": "3"},
    {"size": "many"},
)
LABELS_OF_NAMESPACES = {"other": {"team": "x"}}
FEW = st.integers(0, 3)


def some(each: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    """A few of these."""
    return st.lists(each, max_size=most).map(tuple)


def rarely(each: st.SearchStrategy[Any], otherwise: Any = ()) -> st.SearchStrategy[Any]:
    """One of these now and then."""
    return st.one_of(st.just(otherwise), st.just(otherwise), each)


TAINTS = st.builds(
    Taint,
    st.sampled_from(["dedicated", "gone"]),
    st.sampled_from(["", "x"]),
    st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
)
TOLERATIONS = st.builds(
    Toleration,
    st.sampled_from(["dedicated", "node.kubernetes.io/unschedulable"]),
    st.sampled_from(["Exists", "Equal"]),
    st.sampled_from(["", "x"]),
    st.sampled_from(["", "NoSchedule"]),
)
SELECTORS = st.one_of(
    st.none(), st.builds(lambda app: LabelSelector(Map(app=app)), APPS), st.just(LabelSelector())
)
TERMS = st.builds(
    PodAffinityTerm,
    KEYS,
    SELECTORS,
    some(NAMESPACES, 1),
    rarely(st.sampled_from([LabelSelector(), LabelSelector(Map(team="x"))]), None),
)
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement,
        st.sampled_from([ZONE, "disk"]),
        st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
        some(st.sampled_from(["z0", "z1", "ssd"])),
    ),
    st.builds(Requirement, st.just("size"), st.sampled_from(["Gt", "Lt"]), st.just(("2",))),
)
FIELDS = st.builds(
    Requirement,
    st.just("metadata.name"),
    st.sampled_from(["In", "NotIn"]),
    some(st.sampled_from(["n0", "n1", "n2"])),
)
NODE_TERMS = st.builds(NodeSelectorTerm, some(REQUIREMENTS), rarely(some(FIELDS)))
PLACES = st.builds(NodeAffinity, st.builds(NodeSelector, some(NODE_TERMS)))
NEIGHBOURS = st.builds(PodAffinity, some(TERMS, 1))
AFFINITIES = st.one_of(
    st.builds(Affinity, PLACES),
    st.builds(Affinity, st.none(), NEIGHBOURS),
    st.builds(Affinity, st.none(), st.none(), NEIGHBOURS),
    st.builds(Affinity, st.none(), NEIGHBOURS, NEIGHBOURS),
)
SPREADS = st.builds(
    TopologySpreadConstraint,
    st.integers(1, 2),
    KEYS,
    st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    SELECTORS,
    st.sampled_from([None, 1, 3]),
    st.sampled_from([None, "Honor", "Ignore"]),
    st.sampled_from([None, "Honor", "Ignore"]),
)
PORTS = st.builds(
    Port,
    st.just(80),
    st.sampled_from([0, 80, 81]),
    st.sampled_from(["", "0.0.0.0", "10.0.0.1", "10.0.0.2"]),
    st.sampled_from(["", "TCP", "UDP"]),
)
ASKED = st.sampled_from([{}, {"cpu": 1}, {"cpu": 2, "memory": 3}, {"memory": 0}, {"gpu.com/g": 1}])
RULES = st.one_of(
    st.just({}),
    st.builds(lambda ports: {"containers": (Container("main", ports=ports),)}, some(PORTS)),
    st.just({"node_selector": {ZONE: "z0"}}),
    st.builds(lambda affinity: {"affinity": affinity}, AFFINITIES),
    st.builds(lambda tolerations: {"tolerations": tolerations}, some(TOLERATIONS)),
    st.builds(lambda spreads: {"topology_spread": spreads}, some(SPREADS)),
)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """A node of that name."""
    host = {HOST: name} if draw(st.booleans()) else {}
    node = Node.of(
        name,
        cpu_m=draw(FEW) * 2000,
        memory=draw(st.sampled_from([0, 5, 9])),
        pods=draw(st.integers(0, 4)),
        labels={**host, **draw(st.sampled_from(LABELS))},
        unschedulable=draw(rarely(st.booleans(), False)),
        taints=draw(rarely(some(TAINTS))),
    )
    gpus = Map({**node.status.allocatable, "gpu.com/g": Quantity.parse(draw(FEW))})
    return attrs.evolve(node, status=attrs.evolve(node.status, allocatable=gpus))


@st.composite
def pods(draw: st.DrawFn, name: str, on: str = "") -> Pod:
    """A pod of that name, on that node."""
    asked = Map({key: Quantity.parse(amount) for key, amount in draw(ASKED).items()})
    spec = {"containers": (Container("main", resources=Resources(asked)),), **draw(RULES)}
    pod = Pod.of(
        f"{draw(NAMESPACES)}/{name}",
        labels=draw(st.sampled_from([{}, {"app": "a"}, {"app": "b"}])),
        node_name=on,
        priority=draw(st.integers(0, 2)),
        **spec,
    )
    return pod.with_meta(uid=f"uid-{name}", deleted_ms=draw(rarely(st.just(1000), None)))


@attrs.frozen
class Cluster:
    """Nodes, the pods on them, and those that are nominated to one."""

    nodes: tuple[Node, ...]
    bound: tuple[Pod, ...]
    nominated: dict[str, list[PodInfo]]

    def cache(self) -> SchedulerCache:
        """What a scheduler knows of it."""
        cache = SchedulerCache()
        cache.namespaces = LABELS_OF_NAMESPACES
        for node in self.nodes:
            cache.add_node(node)
        for pod in self.bound:
            cache.add_pod(pod)
        return cache

    def snapshot(self) -> Snapshot:
        """As one cycle sees it."""
        return self.cache().snapshot()


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A few nodes, a few pods on each; and nodes that pods are nominated to."""
    names = [f"n{n}" for n in range(draw(st.integers(1, 4)))]
    bound, nominated = [], {}
    for name in names:
        count = draw(st.integers(0, 3))
        bound += [draw(pods(f"{name}-{n}", name)) for n in range(count)]
        waiting = [info_of(draw(pods(f"to-{name}-{n}"))) for n in range(draw(st.integers(0, 2)))]
        if waiting:
            nominated[name] = waiting
    return Cluster(tuple(draw(nodes(name)) for name in names), tuple(bound), nominated)
