"""Scoring: which of the feasible nodes is best, and by how many points."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, info_of
from actors.scheduler.placing.scoring import scores_of
from actors.scheduler.score import Score
from actors.scheduler.scores import PLACEMENTS
from testbed.objects import Affinity, LabelSelector, Map, Node, Object, Pod, Taint, Toleration
from testbed.objects.affinity import (
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredNodes,
    PreferredPods,
    TopologySpreadConstraint,
)
from testbed.objects.labels import Requirement
from tests.shared.deciding import HOST, ZONE, Picked, a_node, a_pod, decide, snapshot_of

APP = {"app": "a"}
MEBI = 2**20


def scores(
    score: str, pod: Pod, *things: Object, placement: str = "least_allocated"
) -> dict[str, int]:
    """The weighted points that a score gives each node; empty if it gives none."""
    snapshot = snapshot_of(*things)
    rows = range(len(snapshot))
    scored = scores_of(info_of(pod), snapshot, rows, PLACEMENTS[placement])
    return {node: each[score] for node, each in scored.items() if score in each}


# -- resources --------------------------------------------------------------------------------


def least(asked: int, has: int) -> int:
    """The share that is left, in hundredths."""
    return 0 if asked > has else (has - asked) * 100 // has


def most(asked: int, has: int) -> int:
    """The share that is taken, in hundredths."""
    return min(asked, has) * 100 // has


AMOUNTS = st.one_of(st.none(), st.integers(0, 3000))


@pytest.mark.spec("SCH-62", "SCH-40")
@given(
    room=st.tuples(st.integers(0, 4000), st.integers(0, 900 * MEBI)),
    others=st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=4),
    own=st.tuples(AMOUNTS, AMOUNTS),
)
def test_resources_are_weighed_as_the_real_one_does(
    room: tuple[int, int],
    others: list[tuple[int | None, int | None]],
    own: tuple[int | None, int | None],
) -> None:
    """In integers. A container without a request counts 100m and 200 MiB, but not for the
    balance. A resource that a node has none of does not count."""
    node = Node.of("n", cpu_m=room[0], memory=room[1])
    pods = [
        Pod.of(f"p{n}", cpu_m=cpu_m, memory=mb and mb * MEBI, node_name="n")
        for n, (cpu_m, mb) in enumerate([*others, own])
    ]
    asked = [(cpu_m, mb if mb is None else mb * MEBI) for cpu_m, mb in [*others, own]]
    scored = (
        sum(100 if cpu_m is None else cpu_m for cpu_m, _ in asked),
        sum(200 * MEBI if memory is None else memory for _, memory in asked),
    )
    real = sum(cpu_m or 0 for cpu_m, _ in asked), sum(memory or 0 for _, memory in asked)
    things = [node, *pods[:-1]]
    for placement, part in (("least_allocated", least), ("most_allocated", most)):
        parts = [part(a, has) for a, has in zip(scored, room, strict=True) if has]
        expected = sum(parts) // len(parts) if parts else 0
        assert scores("NodeResourcesFit", pods[-1], *things, placement=placement) == {"n": expected}
    fractions = [min(a / has, 1.0) for a, has in zip(real, room, strict=True) if has]
    uneven = abs(fractions[0] - fractions[1]) / 2 if len(fractions) == 2 else 0.0
    balanced = scores("NodeResourcesBalancedAllocation", pods[-1], *things)
    assert balanced == {"n": int((1 - uneven) * 100)}


def test_an_overhead_of_cpu_counts_for_next_to_nothing_before_the_pod_is_there() -> None:
    """As in 1.26: whole cpus, rounded up, are added to thousandths; once the pod is on a node,
    they are thousandths. Memory is counted right."""
    overhead = Map(cpu="1500m", memory="100Mi")
    pod = Pod.of("p", cpu_m=500, memory=0, overhead=overhead)
    node = Node.of("n", cpu_m=4000, memory=1000 * MEBI)
    (alone,) = scores("NodeResourcesFit", pod, node).values()
    assert alone == ((4000 - 502) * 100 // 4000 + 90) // 2
    (even,) = scores("NodeResourcesBalancedAllocation", pod, node).values()
    assert even == int((1 - abs(502 / 4000 - 0.1) / 2) * 100)
    there = attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="n"))
    (beside,) = scores("NodeResourcesFit", Pod.of("q", cpu_m=0, memory=0), node, there).values()
    assert beside == (50 + 90) // 2


@pytest.mark.spec("SCH-62")
def test_the_first_by_name_wins_where_that_is_the_placement() -> None:
    """Whatever other scores would say."""
    nodes = [a_node("n2", 100), a_node("n10", 5), a_node("n3", 50)]
    decision = decide(a_pod("p"), *nodes, placement="first_fit_by_name")
    assert decision.best == ("n10",)
    assert decide(a_pod("p"), *nodes).best == ("n2",)


@pytest.mark.spec("SCH-61", "GEN-5")
def test_one_of_the_best_is_picked() -> None:
    """The first by name by default; a single node is not scored."""
    nodes = [a_node("n2"), a_node("n1"), a_node("n3", 2)]
    pick = Picked(node="n2")
    decision = decide(a_pod("p"), *nodes, pick=pick)
    assert pick.asked == [("node", ("n1", "n2"))]
    assert (decision.node, decision.best) == ("n2", ("n1", "n2"))
    totals = {name: sum(each.values()) for name, each in decision.scores.items()}
    assert totals["n1"] == totals["n2"] > totals["n3"]
    assert not decide(a_pod("p"), nodes[0]).scores


# -- nodes ------------------------------------------------------------------------------------


def test_nodes_with_fewer_discouraging_taints_are_liked() -> None:
    """Each taint that is not tolerated counts; a toleration of another effect does not help."""

    def taints(*keys: str) -> tuple[Taint, ...]:
        return tuple(Taint(key, effect="PreferNoSchedule") for key in keys)

    nodes = [
        a_node("none", taints=(Taint("x", effect="NoExecute"),)),
        a_node("one", taints=taints("x")),
        a_node("two", taints=taints("x", "y")),
        a_node("three", taints=taints("x", "y", "z")),
    ]
    found = scores("TaintToleration", a_pod("p"), *nodes)
    assert found == {"none": 300, "one": 201, "two": 102, "three": 0}
    some = (Toleration("z", "Exists"), Toleration("y", "Exists", effect="NoSchedule"))
    found = scores("TaintToleration", a_pod("p", tolerations=some), *nodes)
    assert found == {"none": 300, "one": 150, "two": 0, "three": 0}
    anything = (Toleration("", "Exists"),)
    found = scores("TaintToleration", a_pod("p", tolerations=anything), *nodes)
    assert set(found.values()) == {300}


def wish(weight: int, *asked: Requirement, **more: Any) -> PreferredNodes:
    """A preferred node affinity term of that weight."""
    return PreferredNodes(weight, NodeSelectorTerm(asked, **more))


def test_nodes_that_a_pod_would_like_are_liked() -> None:
    """By the weights of the terms they meet; an empty term matches no node."""
    nodes = [
        a_node("n1", labels={"disk": "ssd", "cores": "8"}),
        a_node("n2", labels={"disk": "hdd", "cores": "4"}),
        a_node("n3"),
    ]
    wishes = (
        wish(2, Requirement("disk", "Exists")),
        wish(3, Requirement("disk", "NotIn", ("hdd",)), Requirement("cores", "Gt", ("4",))),
        wish(1, match_fields=(Requirement("metadata.name", "In", ("n3",)),)),
        wish(90),
    )
    liking = Affinity(node_affinity=NodeAffinity(preferred=wishes))
    found = scores("NodeAffinity", a_pod("p", affinity=liking), *nodes)
    assert found == {"n1": 200, "n2": 80, "n3": 40}
    assert scores("NodeAffinity", a_pod("p"), *nodes) == {"n1": 0, "n2": 0, "n3": 0}


# -- pods -------------------------------------------------------------------------------------


def term(key: str, **labels: str) -> PodAffinityTerm:
    """A pod affinity term for pods with these labels."""
    return PodAffinityTerm(key, LabelSelector(Map(labels)))


def likes(*wishes: tuple[int, PodAffinityTerm], dislikes: bool = False) -> Affinity:
    """Preferred affinity with these terms, or anti-affinity."""
    some = PodAffinity(preferred=tuple(PreferredPods(*each) for each in wishes))
    return Affinity(pod_anti_affinity=some) if dislikes else Affinity(pod_affinity=some)


NODES = [
    a_node("n1", zone="a"),
    a_node("n2", zone="a"),
    a_node("n3", zone="b"),
    a_node("n4", zone="c"),
]
NEIGHBOURS = [a_pod("x", on="n1", labels=APP), a_pod("y", on="n3", labels=APP)]


def test_nodes_near_pods_it_likes_are_liked() -> None:
    """Each such pod counts the weight of its term, on all nodes of its domain; scaled to 0 to
    100, times two."""
    pod = a_pod("p", affinity=likes((3, term(HOST, app="a")), (4, term(ZONE, app="a"))))
    found = scores("InterPodAffinity", pod, *NODES, *NEIGHBOURS)
    assert found == {"n1": 200, "n2": 114, "n3": 200, "n4": 0}
    pod = a_pod("p", affinity=likes((1, term(ZONE, app="a")), dislikes=True))
    found = scores("InterPodAffinity", pod, *NODES, *NEIGHBOURS)
    assert found == {"n1": 0, "n2": 0, "n3": 0, "n4": 200}


def test_nodes_near_pods_that_like_it_are_liked() -> None:
    """A required term of a pod there counts 1, a preferred one its weight. A node without the
    topology key counts nothing."""
    must = Affinity(pod_affinity=PodAffinity(required=(term(ZONE, app="a"),)))
    others = [
        a_pod("must", on="n1", affinity=must),
        a_pod("likes", on="n3", affinity=likes((3, term(HOST, app="a")))),
        a_pod("dislikes", on="n4", affinity=likes((1, term(HOST, app="a")), dislikes=True)),
        a_pod("nowhere", on="n4", affinity=likes((9, term("rack", app="a")))),
        a_pod("others", on="n4", affinity=likes((9, term(HOST, app="b")))),
    ]
    found = scores("InterPodAffinity", a_pod("p", labels=APP), *NODES, *others)
    assert found == {"n1": 100, "n2": 100, "n3": 200, "n4": 0}
    assert set(scores("InterPodAffinity", a_pod("p"), *NODES, *others).values()) == {0}


def spread(key: str, max_skew: int = 1, when: str = "ScheduleAnyway", **more: Any) -> Any:
    """A constraint that spreads the pods of the app over that key."""
    return TopologySpreadConstraint(max_skew, key, when, LabelSelector(Map(APP)), **more)


def test_nodes_where_few_of_a_kind_stand_are_liked() -> None:
    """ScheduleAnyway: the more domains, the more a pod counts; terminating pods do not count. A
    node without the key gets nothing, and one where the pod cannot be does not count."""
    pod = a_pod("p", labels=APP, topology_spread=(spread(ZONE),))
    pods = [
        *NEIGHBOURS,
        a_pod("z", on="n2", labels=APP),
        a_pod("gone", on="n4", labels=APP, goes="x"),
    ]
    bare = attrs.evolve(a_node("bare"), meta=attrs.evolve(a_node("bare").meta, labels=Map()))
    found = scores("PodTopologySpread", pod, *NODES, bare, *pods)
    assert found == {"n1": 0, "n2": 0, "n3": 66, "n4": 200, "bare": 0}
    assert scores("PodTopologySpread", a_pod("p"), *NODES, *pods) == {}
    hard = a_pod("p", labels=APP, topology_spread=(spread(ZONE, when="DoNotSchedule"),))
    assert scores("PodTopologySpread", hard, *NODES, *pods) == {}


def test_an_empty_selector_matches_all_pods_of_the_namespace() -> None:
    """No selector matches none, as everywhere; later versions match none with either."""
    pods = [a_pod("x", on="n1"), a_pod("y", on="n1", labels=APP)]
    everybody = TopologySpreadConstraint(1, HOST, "ScheduleAnyway", LabelSelector())
    nobody = attrs.evolve(everybody, label_selector=None)
    for rule, at_n1 in ((everybody, 0), (nobody, 200)):
        found = scores("PodTopologySpread", a_pod("p", topology_spread=(rule,)), *NODES, *pods)
        assert found == {"n1": at_n1, "n2": 200, "n3": 200, "n4": 200}


def test_hosts_and_places_where_a_pod_cannot_be_are_counted_apart() -> None:
    """The hostname node by node; nodes that the selector excludes, only if the constraint says
    so."""
    hosts = a_pod("p", labels=APP, topology_spread=(spread(HOST, 2),))
    pods = [*NEIGHBOURS, a_pod("z", on="n1", labels=APP)]
    found = scores("PodTopologySpread", hosts, *NODES, *pods)
    assert found == {"n1": 40, "n2": 200, "n3": 120, "n4": 200}
    none = scores("PodTopologySpread", a_pod("p", topology_spread=(spread(HOST),)), *NODES)
    assert set(none.values()) == {200}
    confined = [
        a_pod(
            "p",
            node_selector={HOST: "n2"},
            topology_spread=(spread(ZONE, node_affinity_policy=policy),),
        )
        for policy in (None, "Ignore")
    ]
    counted = [scores("PodTopologySpread", pod, *NODES, *pods) for pod in confined]
    assert set(counted[0].values()) == {200}
    assert counted[1] == {"n1": 0, "n2": 0, "n3": 66, "n4": 200}
    tainted = [a_node("n1", zone="a", taints=(Taint("x", effect="NoExecute"),)), *NODES[1:]]
    for policy, at_n1 in ((None, 0), ("Honor", 200)):
        rule = spread(ZONE, node_taints_policy=policy)
        found = scores("PodTopologySpread", a_pod("p", topology_spread=(rule,)), *tainted, *pods)
        assert found["n1"] == at_n1


# -- one's own --------------------------------------------------------------------------------


class LikesNames(Score):
    """Prefers long names."""

    name = "LikesNames"
    weight = 5

    def score(self, state: PodInfo, node: NodeInfo) -> int:
        """How long it is."""
        return len(node.name)


def test_a_score_of_ones_own_is_weighed_with_the_others() -> None:
    """It needs a name, a weight and the points of one node."""
    snapshot = snapshot_of(a_node("n1"), a_node("n222"))
    scored = scores_of(info_of(a_pod("p")), snapshot, [0, 1], [LikesNames()])
    assert {name: dict(each) for name, each in scored.items()} == {
        "n1": {"LikesNames": 10},
        "n222": {"LikesNames": 20},
    }
    assert scored.best == ("n222",)
    assert len(scored) == 2
    assert all(type(number) is int for each in scored.values() for number in each.values())


def test_all_columns_are_whole_numbers() -> None:
    """They are added up in 64 bits, as in Kubernetes."""
    snapshot = snapshot_of(*NODES, *NEIGHBOURS)
    pod = a_pod("p", labels=APP, topology_spread=(spread(ZONE),))
    scored = scores_of(info_of(pod), snapshot, [2, 0], PLACEMENTS["least_allocated"])
    assert {column.dtype for column in scored.columns.values()} == {np.dtype(np.int64)}
    assert list(scored) == ["n4", "n1"]
