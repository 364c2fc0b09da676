"""Trial: one node as it would be with some pods more or fewer."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.framework.filter import State
from actors.framework.filters import FILTERS
from actors.framework.filters.resources import NodeResourcesFitFilter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.refusal import Refusal
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.placing.judging import Judging
from actors.scheduler.preemption.trial import Trial, trial_of
from testbed.objects import Container, LabelSelector, Map, Pod
from testbed.objects.affinity import TopologySpreadConstraint
from testbed.objects.meta import Object
from testbed.objects.pod import Port
from tests.models.drawn_clusters import Cluster, clusters, pods
from tests.shared.deciding import HOST, ZONE, a_node, a_pod, far, near, snapshot_of


@pytest.mark.spec("SCH-60", "SCH-116")
@settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data(), cluster=clusters(), pod=pods("new"))
def test_a_trial_says_what_would_be_said_of_such_a_cluster(
    data: st.DataObject, cluster: Cluster, pod: Pod
) -> None:
    """Pods are moved on the node and on others, beside nominated pods. After each move the Trial
    says the same as the filters say of a cluster that was like this from the start."""
    cluster = attrs.evolve(
        cluster, bound=tuple(each.with_meta(deleted_ms=None) for each in cluster.bound)
    )
    home = cluster.nodes[0].meta.name
    judging = Judging(info_of(pod), cluster.snapshot(), FILTERS, cluster.nominated)
    trial = Trial(judging, judging.node(home))
    there = list(cluster.bound)
    gone: list[Pod] = []
    for _ in range(data.draw(st.integers(1, 4))):
        pools = [pool for pool in (there, gone) if pool]
        if not pools:
            break
        pool = data.draw(st.sampled_from(pools))
        each = pool.pop(data.draw(st.integers(0, len(pool) - 1)))
        (gone if pool is there else there).append(each)
        (trial.remove if pool is there else trial.add)(info_of(each), each.spec.node_name)
        if data.draw(st.booleans()):
            assert len(trial.node.pods) == sum(p.spec.node_name == home for p in there)
        anew = attrs.evolve(cluster, bound=tuple(there))
        truth = Judging(info_of(pod), anew.snapshot(), FILTERS, cluster.nominated)
        if judging.refusal is None:
            assert trial.refusal() == truth.verdict(truth.states, truth.node(home))


def found_on(pod: Pod, node: str, *things: Object) -> tuple[Judging, list[PodInfo]]:
    """The filters, prepared for it, and the pods of that node."""
    snapshot = snapshot_of(*things)
    info = snapshot.get(node)
    assert info is not None
    return Judging(info_of(pod), snapshot, FILTERS, {}), list(info.pods)


@pytest.mark.spec("SCH-116", "SCH-107")
def test_a_zone_is_cleared_from_within_only() -> None:
    """The pod that keeps the preemptor out of the zone is on n2: without that pod n2 fits. n1 does
    not fit even without its own pods, but it would without that one."""
    things = [
        a_node("n1"),
        a_node("n2"),
        a_pod("q", on="n2", labels={"app": "q"}),
        a_pod("r", on="n1"),
    ]
    found, (q,) = found_on(a_pod("p", affinity=far(ZONE, app="q")), "n2", *things)
    there = trial_of(found, "n2")
    there.remove(q)
    assert there.fits()
    here = trial_of(found, "n1")
    assert not here.fits()
    here.remove(q, "n2")
    assert here.fits()
    here.add(q, "n2")
    assert not here.fits()
    here.remove(q, "n2")
    assert here.fits()


@pytest.mark.spec("SCH-81")
def test_what_it_must_be_near_may_not_go() -> None:
    """Affinity to a pod that is removed no longer holds; a pod that is added can make it hold."""
    friend = a_pod("w", on="n1", labels={"app": "w"})
    found, (w,) = found_on(a_pod("p", affinity=near(HOST, app="w")), "n1", a_node("n1"), friend)
    trial = trial_of(found, "n1")
    trial.remove(w)
    refusal = trial.refusal()
    assert refusal is not None
    assert refusal.reasons == ("node(s) didn't match pod affinity rules",)
    trial.add(w)
    assert trial.fits()
    trial.remove(w)
    assert not trial.fits()


@pytest.mark.spec("SCH-115", "SCH-116")
def test_who_does_not_want_it_there_may_go() -> None:
    """The anti-affinity of a pod is removed and added with it."""
    shy = a_pod("q", on="n1", affinity=far(ZONE, app="a"))
    found, (q,) = found_on(a_pod("p", labels={"app": "a"}), "n1", a_node("n1"), shy)
    for trial in (trial_of(found, "n1"), Trial(found, found.node("n1"))):
        assert not trial.fits()
        trial.remove(q)
        assert trial.fits()
        trial.add(q)
        assert not trial.fits()
        trial.remove(q)
        assert trial.fits()


@pytest.mark.spec("SCH-57", "SCH-89")
def test_a_port_is_free_when_its_pod_goes() -> None:
    """Even if that pod takes little else."""
    main = Container("main", ports=(Port(80, 80),))
    other = Pod.of("q", containers=(main,), node_name="n1")
    found, (q,) = found_on(Pod.of("p", containers=(main,)), "n1", a_node("n1"), other)
    for trial in (trial_of(found, "n1"), Trial(found, found.node("n1"))):
        assert not trial.fits()
        trial.remove(q)
        assert trial.fits()


def test_a_pod_that_goes_leaves_its_place() -> None:
    """SCH-89: a pod counts as one pod even if it requests nothing."""
    other = a_pod("q", None, on="n1")
    found, (q,) = found_on(a_pod("p", None), "n1", a_node("n1", pods=1), other)
    for trial in (trial_of(found, "n1"), Trial(found, found.node("n1"))):
        assert not trial.fits()
        trial.remove(q)
        assert trial.fits()


@pytest.mark.spec("SCH-57")
def test_a_pod_that_goes_makes_room_where_pods_are_spread() -> None:
    """The skew of its zone shrinks."""
    rule = TopologySpreadConstraint(1, ZONE, "DoNotSchedule", LabelSelector(Map(app="s")))
    things = [
        a_node("n1", zone="a"),
        a_node("n2", zone="b"),
        a_pod("s", on="n1", labels={"app": "s"}),
    ]
    pod = a_pod("p", labels={"app": "s"}, topology_spread=(rule,))
    found, (s,) = found_on(pod, "n1", *things)
    assert Feasibility(found.pod, found.snapshot, FILTERS, {}).feasible == ("n2",)
    trial = trial_of(found, "n1")
    trial.remove(s)
    assert trial.fits()
    trial.add(s)
    assert not trial.fits()
    trial.remove(s)
    assert trial.fits()


def test_no_node_is_copied_where_only_room_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accounts keep what is left, and no pod is looked at. So 5,000 nodes are quick."""
    asked: list[NodeInfo] = []
    check = NodeResourcesFitFilter.check

    def watched(self: NodeResourcesFitFilter, state: State, node: NodeInfo) -> Refusal | None:
        asked.append(node)
        return check(self, state, node)

    monkeypatch.setattr(NodeResourcesFitFilter, "check", watched)
    others = [a_pod(f"p{n}", 5, on="n1") for n in range(2)]
    found, pods_there = found_on(a_pod("p", 5), "n1", a_node("n1"), *others)
    asked.clear()
    trial = Trial(found, found.node("n1"))
    assert not trial.fits()
    trial.remove(pods_there[0])
    assert trial.fits()
    trial.add(pods_there[0])
    refusal = trial.refusal()
    assert refusal is not None
    assert refusal.reasons == ("Insufficient cpu",)
    assert not asked
    assert [info.key for info in trial.node.pods] == ["default/p1", "default/p0"]
