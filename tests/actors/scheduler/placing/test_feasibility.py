"""Feasibility: which nodes are feasible, by whichever way they are filtered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from actors.framework.filter import Filter
from actors.framework.filters import FILTERS
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.refusal import Refusal
from actors.scheduler.placing import feasibility as filtering
from actors.scheduler.placing.feasibility import Feasibility, enough_of
from actors.scheduler.preemption.trial import trial_of
from testbed.objects import Affinity, Pod, Requirement
from testbed.objects.affinity import NodeAffinity, NodeSelector, NodeSelectorTerm
from tests.models.drawn_clusters import Cluster, clusters, pods
from tests.shared.deciding import HOST, a_node, a_pod, decide, far, near, snapshot_of

DRAWN = settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def found(pod: Pod, cluster: Cluster, few: int, start: int = 0, own: str = "") -> Feasibility:
    """The Feasibility if this many nodes count as few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filtering, "FEW", few)
        return Feasibility(
            info_of(pod), cluster.snapshot(), FILTERS, cluster.nominated, own=own, start=start
        )


def told(feasibility: Feasibility) -> dict[str, Any]:
    """All that can be read from it."""
    return {
        "rows": list(feasibility.rows),
        "feasible": feasibility.feasible,
        "refusals": dict(feasibility.refusals),
        "failed": feasibility.failed,
        "reasons": feasibility.reasons,
        "potential": feasibility.potential,
        "next_start": feasibility.next_start,
        "error": feasibility.error,
        "said": feasibility.said,
    }


@DRAWN
@given(cluster=clusters(), pod=pods("new"))
def test_all_nodes_at_once_are_as_one_after_the_other(cluster: Cluster, pod: Pod) -> None:
    """Columns give the same answers: also with nominated pods, and from any start."""
    for start in range(len(cluster.nodes)):
        for own in ("", cluster.nodes[0].meta.name):
            few, many = (found(pod, cluster, few, start, own) for few in (100, 0))
            assert told(many) == told(few)


@DRAWN
@given(cluster=clusters(), pod=pods("new"))
def test_each_filter_says_of_all_what_it_says_of_each(cluster: Cluster, pod: Pod) -> None:
    """`check` is the rule, and `check_all` is fast."""
    snapshot, info = cluster.snapshot(), info_of(pod)
    for each in FILTERS:
        state = each.prepare(info, snapshot)
        if state is None or isinstance(state, Refusal):
            continue
        refused = each.check_all(state, snapshot)
        for row, node in enumerate(snapshot.infos):
            code = 0 if refused is None else int(refused.codes[row])
            at_once = refused.refusal(code) if refused is not None and code else None
            assert at_once == each.check(state, node), (each.name, node)


@DRAWN
@given(cluster=clusters(), pod=pods("new"))
def test_a_filter_that_skips_a_pod_would_refuse_it_nowhere(cluster: Cluster, pod: Pod) -> None:
    """If `prepare` gives None for a pod, a twin of the filter that does not skip refuses it
    nowhere, whatever pods are nominated."""
    snapshot, info = cluster.snapshot(), info_of(pod)
    skipped = {each.name for each in FILTERS if each.prepare(info, snapshot) is None}
    refusals = found(pod, cluster, 100).refusals.values()
    assert not skipped & {refusal.filter for refusal in refusals}


@pytest.mark.spec("SCH-55")
def test_sampling_stops_when_there_are_enough() -> None:
    """Below 100 nodes all are looked at; otherwise a share, at least 100, and the next cycle
    goes on from there."""
    assert [enough_of(n) for n in (0, 1, 99, 100, 150, 1000, 5000, 6000)] == [
        0, 1, 99, 100, 100, 420, 500, 300,
    ]  # fmt: skip
    snapshot = snapshot_of(*(a_node(f"n{n}", 0 if n % 2 else 1) for n in range(300)))
    pod = info_of(a_pod("p"))
    first = Feasibility(pod, snapshot, FILTERS, {}, start=50)
    assert list(first.rows[:2]) == [50, 52]
    assert len(first.rows) == 144
    assert len(first.refusals) == 143
    assert first.next_start == (50 + 287) % 300
    assert "n1" in first.refusals
    assert "n39" not in first.refusals


@pytest.mark.spec("SCH-55")
def test_it_is_the_same_where_many_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sampling does not depend on columns."""
    snapshot = snapshot_of(*(a_node(f"n{n}", 0 if n % 3 else 1) for n in range(400)))
    pod = info_of(a_pod("p"))
    for start in (0, 7, 399):
        many = told(Feasibility(pod, snapshot, FILTERS, {}, start=start))
        with monkeypatch.context() as patch:
            patch.setattr(filtering, "FEW", 1000)
            assert told(Feasibility(pod, snapshot, FILTERS, {}, start=start)) == many


@pytest.mark.parametrize("few", [1000, 0])
def test_a_search_that_has_enough_stops(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SCH-55: nodes behind the last one that was needed were not looked at."""
    monkeypatch.setattr(filtering, "FEW", few)
    enough = enough_of(400)
    snapshot = snapshot_of(*(a_node(f"n{n}", 1 if n < enough else 0) for n in range(400)))
    found = Feasibility(info_of(a_pod("p")), snapshot, FILTERS, {})
    assert (len(found.rows), len(found.refusals), found.next_start) == (enough, 0, enough)


@pytest.mark.spec("SCH-54")
def test_the_node_a_pod_is_nominated_to_comes_first() -> None:
    """If it is feasible, no other is looked at; if it is not, or is gone, all are."""
    things = [a_node("n1"), a_node("n2", 0), a_node("n3")]
    assert decide(a_pod("p", nominated="n3"), *things).feasible == ("n3",)
    assert decide(a_pod("p", nominated="n2"), *things).feasible == ("n1", "n3")
    assert decide(a_pod("p", nominated="n9"), *things).feasible == ("n1", "n3")
    ignoring = decide(a_pod("p", nominated="n3"), *things, own_nomination="ignore")
    assert ignoring.feasible == ("n1", "n3")


@pytest.mark.spec("SCH-59")
def test_nominated_pods_count_if_they_are_as_important() -> None:
    """Those of equal or higher priority count; lower ones and the pod itself do not."""
    node = a_node("n1", 1)
    for priority, fits in ((6, False), (5, False), (4, True)):
        other = a_pod("other", nominated="n1", priority=priority)
        assert bool(decide(a_pod("p", priority=5), node, other).feasible) == fits
        alone = decide(a_pod("p", priority=5), node, other, nominated_accounting="none")
        assert alone.feasible == ("n1",)
    assert decide(a_pod("p", nominated="n1"), node).feasible == ("n1",)


@pytest.mark.spec("SCH-59")
def test_both_passes_must_succeed() -> None:
    """Affinity that only a nominated pod would satisfy does not hold, since that pod may never
    come."""
    friend = a_pod("friend", nominated="n1", priority=9, labels={"app": "x"})
    decision = decide(a_pod("p", affinity=near(HOST, app="x")), a_node("n1"), friend)
    assert decision.refusals["n1"].reasons == ("node(s) didn't match pod affinity rules",)


@pytest.mark.parametrize("few", [100, 0])
def test_a_nominated_pod_can_keep_another_away(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SCH-59: as if it were there already, although there is room for both."""
    monkeypatch.setattr(filtering, "FEW", few)
    shy = a_pod("shy", nominated="n1", affinity=far(HOST, app="a"))
    decision = decide(a_pod("p", labels={"app": "a"}), a_node("n1"), a_node("n2"), shy)
    assert decision.feasible == ("n2",)
    said = "node(s) didn't satisfy existing pods anti-affinity rules"
    assert decision.refusals["n1"].reasons == (said,)


@pytest.mark.parametrize("few", [1000, 0])
def test_a_nominated_node_that_is_not_feasible_was_looked_at(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SCH-54, SCH-55: it counts as a node looked at, also if the search stops before it."""
    monkeypatch.setattr(filtering, "FEW", few)
    snapshot = snapshot_of(*(a_node(f"n{n}", 0 if n == 250 else 1) for n in range(300)))
    found = Feasibility(info_of(a_pod("p")), snapshot, FILTERS, {}, own="n250")
    assert list(found.refusals) == ["n250"]
    assert (len(found.rows), found.next_start) == (144, 145)


@pytest.mark.spec("SCH-53", "SCH-76")
def test_only_the_named_nodes_are_looked_at() -> None:
    """By metadata.name; the others have no status, and preemption may help there."""
    snapshot = snapshot_of(*(a_node(f"n{n}", 0) for n in range(3)))
    terms = [NodeSelectorTerm(match_fields=(_name_is(name),)) for name in ("n2", "n0")]
    either = Affinity(NodeAffinity(NodeSelector(tuple(terms))))
    for affinity in (_named("n2", "n0"), either):
        feasibility = Feasibility(info_of(a_pod("p", affinity=affinity)), snapshot, FILTERS, {})
        assert list(feasibility.refusals) == ["n0", "n2"]
        assert feasibility.potential == [0, 1, 2]


@pytest.mark.spec("SCH-53", "SCH-68")
def test_names_that_conflict_refuse_all_nodes_at_once() -> None:
    """No node is looked at, and the message has that reason alone (SCH-68)."""
    terms = (_name_is("n0"), _name_is("n1"))
    both = NodeSelectorTerm(match_fields=terms)
    pod = a_pod("p", affinity=Affinity(NodeAffinity(NodeSelector((both,)))))
    decision = decide(pod, a_node("n0"), a_node("n1"))
    assert decision.message == (
        "0/2 nodes are available: pod affinity terms conflict. preemption: 0/2 nodes are available:"
        " 2 Preemption is not helpful for scheduling.."
    )
    assert decision.failed == ("NodeAffinity",)


@pytest.mark.spec("SCH-53")
def test_a_named_node_that_is_not_there_is_an_error() -> None:
    """Kubernetes does not find it, and reports that."""
    decision = decide(a_pod("p", affinity=_named("n9")), a_node("n1"))
    assert decision.is_error
    assert decision.message == 'nodeinfo not found for node name "n9"'
    assert decision.nominate == ""


class NotOnFridays(Filter):
    """A user's filter."""

    name = "NotOnFridays"

    def check(self, state: PodInfo, node: NodeInfo) -> Refusal | None:
        """Refuses nodes with two pods."""
        return self.no("node(s) are busy") if len(node.pods) >= 2 else None


def test_a_filter_of_ones_own_is_a_name_and_a_check() -> None:
    """It runs for all nodes, and in trials, like the others."""
    others = [a_pod(f"p{n}", on=f"n{n % 40}") for n in range(60)]
    snapshot = snapshot_of(*(a_node(f"n{n}") for n in range(40)), *others)
    feasibility = Feasibility(info_of(a_pod("p")), snapshot, [*FILTERS, NotOnFridays()], {})
    assert feasibility.reasons == {"node(s) are busy": 20}
    trial = trial_of(feasibility.judging, "n0")
    assert not trial.fits()
    trial.remove(info_of(others[0]))
    assert trial.fits()


def _name_is(*names: str) -> Requirement:
    return Requirement("metadata.name", "In", names)


def _named(*names: str) -> Affinity:
    term = NodeSelectorTerm(match_fields=(_name_is(*names),))
    return Affinity(NodeAffinity(NodeSelector((term,))))
