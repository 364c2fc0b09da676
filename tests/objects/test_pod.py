"""Pods: what they ask for, what service they are entitled to, how important they are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.objects import Condition, Container, Map, Pod, PodSpec, PodStatus, Resources
from testbed.objects import qos_of as qos
from testbed.objects import requests_of as requests
from testbed.objects.affinity import Affinity, NodeAffinity, NodeSelector, NodeSelectorTerm
from testbed.objects.form import from_tree, to_tree
from testbed.objects.labels import Requirement
from testbed.objects.pod import (
    BEST_EFFORT,
    BURSTABLE,
    FAILED,
    GUARANTEED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    Port,
)
from testbed.objects.quantity import NANO
from tests.each_row import each_row

OFTEN = settings(max_examples=300, derandomize=True, deadline=None)
Asked = dict[str, Any]


def container(asked: Asked | None = None, limits: Asked | None = None) -> Container:
    """A container with these requests and limits."""
    return Container("c", resources=Resources(Map(asked or {}), Map(limits or {})))


def spec(*containers: Container, init: tuple[Container, ...] = (), **more: Any) -> PodSpec:
    """A spec of these."""
    return PodSpec(containers=containers, init_containers=init, **more)


@pytest.mark.spec("GEN-12")
@each_row(
    ("asks", "total"),
    [
        (spec(), {}),
        (spec(container()), {}),
        (
            spec(container({"cpu": "500m", "memory": "1Gi"}), container({"cpu": "250m"})),
            {"cpu": 750, "memory": 2**30},
        ),
        (spec(container({"cpu": 1}), init=(container({"cpu": 3}),)), {"cpu": 3000}),
        (spec(container({"cpu": 3}), init=(container({"cpu": 1}),)), {"cpu": 3000}),
        (
            spec(container({"cpu": 1}), init=(container({"cpu": 2}), container({"cpu": 2}))),
            {"cpu": 2000},
        ),
        (
            spec(
                container({"cpu": 1, "memory": 10}),
                init=(container({"memory": 30, "cpu": "1m"}), container({"x/gpu": 2})),
            ),
            {"cpu": 1000, "memory": 30, "x/gpu": 2},
        ),
        (
            spec(
                container({"cpu": 1}),
                init=(container({"cpu": 3}),),
                overhead=Map(cpu="100m", x="1"),
            ),
            {"cpu": 3100, "x": 1},
        ),
        (spec(container(limits={"cpu": 8})), {}),
        (spec(container({"cpu": 0})), {"cpu": 0}),
        (spec(container({"cpu": "1u"}), container({"cpu": "1u"})), {"cpu": 2}),
    ],
)
def test_a_pod_asks_for_what_it_needs_at_once(asks: PodSpec, total: dict[str, int]) -> None:
    """Containers together, init containers one by one, overhead on top; limits never count."""
    assert requests(Pod("p", spec=asks)) == total


AMOUNTS = st.sampled_from(["0", "100m", "1", "1000m", "1u", "-1"])
ASKED = st.dictionaries(st.sampled_from(["cpu", "memory", "x/gpu"]), AMOUNTS, max_size=3)
CONTAINERS = st.lists(
    st.builds(container, ASKED, ASKED)
    | ASKED.map(lambda asked: container(asked, asked))
    | st.just(container({"cpu": "1", "memory": "1"}, {"cpu": "1000m", "memory": "1"})),
    max_size=2,
).map(tuple)


def restated(pod: PodSpec) -> str:
    """Kubernetes' own computation, step by step as it is written there, in exact fractions."""
    asked: dict[str, Fraction] = {}
    limits: dict[str, Fraction] = {}
    is_guaranteed = True
    for each in [*pod.containers, *pod.init_containers]:
        for name, quantity in each.resources.requests.items():
            if name in ("cpu", "memory") and quantity.nano > 0:
                asked[name] = asked.get(name, Fraction(0)) + Fraction(quantity.nano, NANO)
        limits_found = set()
        for name, quantity in each.resources.limits.items():
            if name in ("cpu", "memory") and quantity.nano > 0:
                limits_found.add(name)
                limits[name] = limits.get(name, Fraction(0)) + Fraction(quantity.nano, NANO)
        if not limits_found >= {"cpu", "memory"}:
            is_guaranteed = False
    if len(asked) == 0 and len(limits) == 0:
        return "BestEffort"
    if is_guaranteed:
        for name, amount in asked.items():
            if name not in limits or limits[name] != amount:
                is_guaranteed = False
                break
    return "Guaranteed" if is_guaranteed and len(asked) == len(limits) else "Burstable"


@pytest.mark.spec("GEN-13")
def test_the_quality_of_service_is_what_kubernetes_computes() -> None:
    """Over drawn pods, and every answer among them."""
    seen: set[str] = set()

    @OFTEN
    @given(CONTAINERS, CONTAINERS)
    def it_is(containers: tuple[Container, ...], init: tuple[Container, ...]) -> None:
        pod = spec(*containers, init=init)
        assert qos(pod) == restated(pod)
        seen.add(qos(pod))

    it_is()
    assert seen == {BEST_EFFORT, BURSTABLE, GUARANTEED}


@pytest.mark.spec("GEN-14")
@each_row(("said", "is_so"), [(None, 0), (0, 0), (7, 7), (-1, -1), (2_000_001_000, 2_000_001_000)])
def test_a_priority_that_nobody_has_said_is_zero(said: int | None, is_so: int) -> None:
    """And what was said is told from what was not, on the wire too."""
    pod = Pod("p", spec=PodSpec(priority=said))
    assert pod.priority == is_so
    assert to_tree(pod).get("spec") == (None if said is None else {"priority": said})
    assert from_tree(Pod, to_tree(pod)) == pod


@each_row(("one", "other", "clash"), [
    (Port(1, 80), Port(2, 80, protocol="TCP"), True),
    (Port(1, 80, "0.0.0.0"), Port(1, 80, "10.0.0.1"), True),
    (Port(1, 80, "10.0.0.1"), Port(1, 80, "10.0.0.1"), True),
    (Port(1, 80, "10.0.0.1"), Port(1, 80, "10.0.0.2"), False),
    (Port(1, 80, "::"), Port(1, 80, "10.0.0.1"), False),
    (Port(1, 80), Port(1, 81), False),
    (Port(1, 80), Port(1, 80, protocol="UDP"), False),
])  # fmt: skip
def test_no_node_gives_one_port_twice(one: Port, other: Port, clash: bool) -> None:
    """By its number, protocol and address; none said, or 0.0.0.0, is each. `::` is one of them."""
    assert one.clashes(other) is other.clashes(one) is clash


HERE = NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n1",)),))
THERE = NodeSelectorTerm((Requirement("rack", "Exists"),))


@each_row(("selector", "terms", "may"), [
    ({}, None, True),
    ({"disk": "ssd"}, None, True),
    ({"disk": "ssd", "rack": "1"}, None, False),
    ({}, (), False),
    ({}, (THERE, HERE), True),
    ({}, (THERE,), False),
    ({"rack": "1"}, (HERE,), False),
])  # fmt: skip
def test_a_pod_may_be_where_its_selector_and_its_affinity_let_it(
    selector: dict[str, str], terms: tuple[NodeSelectorTerm, ...] | None, may: bool
) -> None:
    """Both of them; of several terms of the affinity one is enough, and of none, none."""
    nodes = NodeAffinity(None if terms is None else NodeSelector(terms))
    asked = spec(node_selector=selector, affinity=Affinity(nodes))
    assert asked.may_be_on("n1", {"disk": "ssd"}) is may


@each_row("phase", ["", PENDING, RUNNING, SUCCEEDED, FAILED])
def test_a_pod_says_where_and_how_it_is(phase: str) -> None:
    """Bound if it has a node; over if it has ended either way; ready if its condition says so."""
    ready = (Condition("Other", "True"), Condition("Ready", "True"))
    pod = Pod("p", spec=PodSpec("n1"), status=PodStatus(phase, conditions=ready))
    assert pod.is_bound
    assert pod.is_over == (phase in ("Succeeded", "Failed"))
    assert pod.is_ready
    other = Pod("p", status=PodStatus(conditions=(Condition("Ready", "Unknown"),)))
    assert (other.is_bound, other.is_over, other.is_ready) == (False, False, False)
