"""Kept dry runs: what one pod has found out of a node serves the next one like it, and no other."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.framework.filter import NodeFilter
from actors.framework.filters import FILTERS
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.scheduler.decisions.decision import Preemption
from actors.scheduler.decisions.pick import the_first
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.placing.judging import Nominated
from actors.scheduler.preemption import preempt
from actors.scheduler.preemption.dry_run import DryRun
from actors.scheduler.preemption.victims import Fewest, Greedy
from actors.scheduler.switches import switches_of
from testbed.objects import Object, Pod
from tests.shared.deciding import NOW_MS, a_budget, a_node, a_pod, snapshot_of

LIKES = {"likes": "all"}
SELECTORS = (Greedy(), Greedy("asc"), Fewest())
BUDGETS = (a_budget("b", 0, {"app": "a"}), a_budget("b", 1, {"app": "a"}))


class Likes(NodeFilter):
    """Refuses the node n1, unless the pod likes every node. It may change its mind."""

    name = "Likes"

    def check(self, state: PodInfo, node: NodeInfo) -> Refusal | None:
        return None if node.name != "n1" or state.labels else self.no("node(s) were not liked")


def found_by(
    pod: Pod, snapshot: Snapshot, nominated: Nominated, *, now_ms: int = NOW_MS, **given: Any
) -> Preemption:
    """What its preemption comes to in that cluster."""
    found = Feasibility(info_of(pod), snapshot, (*FILTERS, Likes()), nominated)
    switches = given.pop("switches", switches_of())
    return preempt(
        found, pod, switches=switches, pick=the_first, now_ms=now_ms,
        **{"budgets": (), "selector": SELECTORS[0], **given},
    )  # fmt: skip


def there(name: str, draw: st.DrawFn) -> Pod:
    """A pod on a node."""
    return a_pod(
        name, draw(st.integers(2, 4)), on=draw(st.sampled_from(("n1", "n2"))),
        priority=draw(st.integers(0, 2)), start=draw(st.sampled_from((None, 1, 2))),
        labels={"app": draw(st.sampled_from("ab"))},
    )  # fmt: skip


@st.composite
def clusters(draw: st.DrawFn) -> list[Object]:
    """Two nodes, and some pods there."""
    count = draw(st.integers(3, 6))
    return [a_node("n1"), a_node("n2"), *(there(f"v{n}", draw) for n in range(count))]


def nominating(pod: Pod) -> Nominated:
    """That pod is nominated to n1."""
    return {"n1": (info_of(pod),)}


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "name": st.sampled_from("pq"),
    "units": st.integers(9, 10),
    "priority": st.integers(2, 3),
    "labels": st.sampled_from(({}, LIKES)),
    "scheduler_name": st.sampled_from(("default-scheduler", "other")),
    "qos": st.sampled_from(("Burstable", "Guaranteed")),
}
"""What a preemptor may be like."""
ROUND = {
    "nominated": st.sampled_from(
        ({}, nominating(a_pod("r", 2, priority=3)), nominating(a_pod("p", 2)))
    ),
    "now_ms": st.sampled_from((NOW_MS, NOW_MS + 1000)),
    "budgets": st.sampled_from(((), *((each,) for each in BUDGETS))),
    "selector": st.sampled_from(SELECTORS),
    "switches": st.sampled_from(
        [
            switches_of(given=given)
            for given in (
                {}, {"hostile": "on"}, {"victim_primary": "qos"}, {"pdb_mode": "strict"},
                {"clear_lower": "only_if_unfit"},
            )
        ]
    ),
}  # fmt: skip
"""What else its preemption may depend on."""


@st.composite
def preemptions(draw: st.DrawFn) -> list[tuple[Pod, dict[str, Any]]]:
    """Some, of which each differs from the one before in one thing at most."""
    now = {name: draw(each) for name, each in {**FIELDS, **ROUND}.items()}
    found = []
    for _ in range(draw(st.integers(2, 5))):
        pod = {name: now[name] for name in FIELDS}
        found.append((a_pod(pod.pop("name"), pod.pop("units"), **pod), {n: now[n] for n in ROUND}))
        name = draw(st.sampled_from(sorted(now)))
        now[name] = draw({**FIELDS, **ROUND}[name])
    return found


@given(clusters(), preemptions())
def test_what_was_kept_is_what_would_be_found(
    things: list[Object], those: list[tuple[Pod, dict[str, Any]]]
) -> None:
    """One pod after another in the same cluster finds what it would find if it were the first."""
    snapshot = snapshot_of(*things)
    for pod, given_ in those:
        assert found_by(pod, snapshot, **given_) == found_by(pod, snapshot_of(*things), **given_)


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes on which victims were looked for, one after another."""
    asked: list[str] = []
    victims = Greedy.victims

    def counted(own: Greedy, dry: DryRun) -> Any:
        asked.append(dry.node)
        return victims(own, dry)

    monkeypatch.setattr(Greedy, "victims", counted)
    return asked


def test_pods_that_are_alike_look_at_a_node_once(asks: list[str]) -> None:
    """Until something changes there, or another pod is nominated there."""
    things = [a_node("n1"), a_pod("v", 5, on="n1", start=1)]
    snapshot = snapshot_of(*things)
    first = found_by(a_pod("p", 6, priority=5, labels=LIKES), snapshot, {})
    assert (
        found_by(a_pod("q", 6, priority=5, labels=LIKES), snapshot, {}, now_ms=NOW_MS + 1) == first
    )
    assert asks == ["n1"]
    found_by(a_pod("q", 6, priority=5, labels=LIKES), snapshot, nominating(a_pod("r", priority=9)))
    found_by(a_pod("q", 7, priority=5, labels=LIKES), snapshot, {})
    snapshot.infos[0].add(info_of(a_pod("w", 1, on="n1", start=2)))
    found_by(a_pod("q", 7, priority=5, labels=LIKES), snapshot, {})
    assert asks == ["n1"] * 4


def test_a_pod_that_has_not_started_looks_older_as_time_goes_by(asks: list[str]) -> None:
    """It counts as started now, so a node with one is looked at again once the clock has moved."""
    snapshot = snapshot_of(a_node("n1"), a_pod("v", 5, on="n1", start=None))
    early = found_by(a_pod("p", 6, priority=5, labels=LIKES), snapshot, {})
    late = found_by(a_pod("q", 6, priority=5, labels=LIKES), snapshot, {}, now_ms=NOW_MS + 1000)
    assert early.chosen is not None
    assert late.chosen is not None
    assert late.chosen.keys == (*early.chosen.keys[:-1], early.chosen.keys[-1] - 1000)
    assert attrs.evolve(late.chosen, keys=()) == attrs.evolve(early.chosen, keys=())
    assert asks == ["n1", "n1"]


@pytest.mark.parametrize(
    "other",
    [
        {"priority": 6}, {"units": 7}, {"scheduler_name": "other"}, {"qos": "Guaranteed"},
        {"budgets": BUDGETS[:1]}, {"selector": Greedy()}, {"switches": switches_of("k8s-modern")},
        {"nominated": nominating(a_pod("r"))},
    ],
    ids=lambda other: "".join(other),
)  # fmt: skip
def test_whatever_the_result_depends_on_has_it_looked_at_again(
    other: dict[str, Any], asks: list[str]
) -> None:
    """Each thing by itself: the preemptor, who is nominated, budgets, the selector, switches."""
    snapshot = snapshot_of(a_node("n1"), a_pod("v", 5, on="n1", start=1))
    usual: dict[str, Any] = {
        "name": "p", "units": 6, "priority": 5, "labels": LIKES, "qos": "Burstable",
        "scheduler_name": "default-scheduler",
    }  # fmt: skip
    for given_ in ({**usual}, {**usual, **other}):
        of_pod = {name: given_.pop(name) for name in usual}
        pod = a_pod(of_pod.pop("name"), of_pod.pop("units"), **of_pod)
        found_by(pod, snapshot, **{"nominated": {}, **given_})
    assert asks == ["n1", "n1"]


def test_what_is_cleared_only_if_unfit_is_never_kept(asks: list[str]) -> None:
    """It depends on the other filters of the pods nominated there."""
    snapshot = snapshot_of(a_node("n1"), a_pod("v", 5, on="n1", start=1))
    switches, nominated = (
        switches_of(given={"clear_lower": "only_if_unfit"}),
        nominating(a_pod("r")),
    )
    for _ in range(2):
        pod = a_pod("p", 6, priority=5, labels=LIKES)
        found_by(pod, snapshot, nominated, switches=switches)
    assert asks == ["n1", "n1"]


def test_a_pod_is_no_neighbour_of_its_own(asks: list[str]) -> None:
    """Where it is nominated itself, it takes room only once."""
    snapshot = snapshot_of(a_node("n1"), a_pod("v", 5, on="n1", start=1))
    nominated = nominating(a_pod("q", 6, priority=5))
    for name, is_found in (("p", False), ("q", True), ("p", False)):
        pod = a_pod(name, 6, priority=5, labels=LIKES)
        assert (found_by(pod, snapshot, nominated).chosen is not None) == is_found
    assert asks == ["n1"]
