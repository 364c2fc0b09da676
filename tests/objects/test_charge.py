"""Charge: what a pod takes of a quota, and of which quotas it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from testbed.objects import (
    Container,
    Map,
    Pod,
    PodSpec,
    PodStatus,
    Quantity,
    QuotaSpec,
    ResourceQuota,
    Resources,
    ScopedRequirement,
    ScopeSelector,
)
from testbed.objects.charge import (
    charge_of,
    charged,
    counts,
    is_freed,
    meets,
    missing_in,
    plus,
    scopes_of,
)
from tests.each_row import each_row


def container(
    name: str = "main", requests: Mapping[str, Any] = Map(), limits: Mapping[str, Any] = Map()
) -> Container:
    """A container with these requests and limits."""
    return Container(name, resources=Resources(Map(requests), Map(limits)))


def told(pod: Pod, now_ms: int = 0) -> dict[str, str]:
    """What it is charged with, as it is written."""
    return {name: str(amount) for name, amount in sorted(charge_of(pod, now_ms).items())}


def pod_of(*containers: Container, **spec: Any) -> Pod:
    """A pod of these containers."""
    return Pod("p", spec=PodSpec(containers=containers, **spec))


def ending(phase: str, deleted_ms: int | None = None, grace_s: int | None = None) -> Pod:
    """A pod in that phase that was perhaps told to end."""
    pod = Pod.of("p", cpu_m=100)
    meta = attrs.evolve(pod.meta, deleted_ms=deleted_ms, grace_s=grace_s)
    return attrs.evolve(pod, meta=meta, status=PodStatus(phase))


# -- what is charged ------------------------------------------------------------------------------


@pytest.mark.spec("PRI-21")
def test_a_pod_is_charged_for_all_it_asks_for_and_may_use() -> None:
    """Under both names of what it asks for, and itself under two."""
    asked = {"cpu": "800m", "memory": "1Gi", "ephemeral-storage": "2Gi"}
    assert told(pod_of(container("main", asked, {"cpu": 1, "memory": "2Gi"}))) == {
        "count/pods": "1", "pods": "1",
        "cpu": "800m", "requests.cpu": "800m", "limits.cpu": "1",
        "memory": "1Gi", "requests.memory": "1Gi", "limits.memory": "2Gi",
        "ephemeral-storage": "2Gi", "requests.ephemeral-storage": "2Gi",
    }  # fmt: skip


@pytest.mark.spec("PRI-21")
def test_what_only_some_nodes_have_is_charged_as_a_request() -> None:
    """By its prefixed name alone; huge pages by both; of what Kubernetes reserves, nothing."""
    asked = {"nvidia.com/gpu": 2, "hugepages-2Mi": "4Mi", "x.kubernetes.io/y": 1, "plain": 1}
    assert told(pod_of(container("main", asked))) == {
        "count/pods": "1", "pods": "1", "requests.nvidia.com/gpu": "2",
        "hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi",
    }  # fmt: skip
    names = [*asked, *(f"requests.{name}" for name in asked), "cpu", "pods", "services"]
    assert charged(names) == [
        "cpu", "hugepages-2Mi", "pods", "requests.hugepages-2Mi", "requests.nvidia.com/gpu",
    ]  # fmt: skip


@pytest.mark.spec("PRI-21", "GEN-12")
def test_containers_add_up_and_an_init_container_counts_if_it_is_more() -> None:
    """Resource by resource, of requests as of limits, with the overhead on top of both."""
    pod = pod_of(
        container("a", {"cpu": "100m", "memory": 10}, {"cpu": "300m"}),
        container("b", {"cpu": "200m", "memory": 10}, {"cpu": "300m"}),
        init_containers=(container("i", {"cpu": "250m", "memory": 30}, {"cpu": 1}),),
        overhead=Map(cpu="5m"),
    )
    charge = told(pod)
    assert (charge["cpu"], charge["memory"], charge["limits.cpu"]) == ("305m", "30", "1005m")


@pytest.mark.spec("PRI-21", "PRI-24")
@each_row(
    ("pod", "now_s", "is_charged"),
    [
        (ending("Pending"), 0, True),
        (ending("Running"), 0, True),
        (ending("Succeeded"), 0, False),
        (ending("Failed"), 0, False),
        (ending("Running", 30_000, 30), 0, True),
        (ending("Running", 30_000, 30), 31, True),
        (ending("Running", 30_000, 30), 60, True),
        (ending("Running", 30_000, 30), 61, False),
        (ending("Running", 30_000, 0), 30, True),
        (ending("Running", 30_000, 0), 31, False),
        (ending("Running", 30_000), 1000, True),
        (ending("Failed", 30_000, 30), 0, False),
    ],
)
def test_a_pod_is_charged_until_it_is_over(pod: Pod, now_s: int, is_charged: bool) -> None:
    """That its deletion was asked for frees nothing; being stuck for long after it was to be gone
    does. What counts objects counts it to the last."""
    charge = charge_of(pod, now_s * 1000)
    assert str(charge["count/pods"]) == "1"
    assert ("pods" in charge, "requests.cpu" in charge) == (is_charged, is_charged)


@pytest.mark.spec("PRI-24")
def test_only_the_change_that_ends_a_pod_frees_what_it_took() -> None:
    """Not that its deletion was asked for, nor what comes after its end."""
    running, asked, over = ending("Running"), ending("Running", 30_000, 30), ending("Failed")
    assert is_freed(running, over, 0)
    assert is_freed(asked, over, 0)
    assert not is_freed(running, asked, 0)
    assert not is_freed(over, ending("Failed", 30_000, 30), 0)
    assert is_freed(ending("Running", 90_000, 30), asked, 61_000)


def test_sums_are_written_as_the_first_amount_is() -> None:
    """Bytes keep binary suffixes; zero takes the form of what is added to it."""
    some = Map(a=Quantity.parse("1Gi"), b=Quantity.parse(0), c=Quantity.parse(1))
    more = Map(a=Quantity.parse("1G"), b=Quantity.parse("1Gi"), d=Quantity.parse(2))
    shown = {name: str(amount) for name, amount in plus(some, more).items()}
    assert shown == {"a": "2073741824", "b": "1Gi", "c": "1", "d": "2"}


@pytest.mark.spec("PRI-22")
def test_a_container_says_what_it_wants_by_the_names_of_quotas() -> None:
    """A request answers to two names, a limit to its own."""
    main = container("main", {"cpu": "1"}, {"memory": "1Gi"})
    wanted = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"]
    assert missing_in(main, wanted) == ["limits.cpu", "memory", "requests.memory"]


# -- which pods are counted -----------------------------------------------------------------------


def by_class(operator: str, *values: str) -> ScopedRequirement:
    """What a class must be."""
    return ScopedRequirement("PriorityClass", operator, values)


@pytest.mark.spec("PRI-20")
@each_row(
    ("scope", "names"),
    [
        (by_class("In", "high", "low"), ["high", "low"]),
        (by_class("NotIn", "high"), ["", "low", "other"]),
        (by_class("Exists"), ["high", "low", "other"]),
        (by_class("DoesNotExist"), [""]),
    ],
)
def test_a_quota_may_ask_for_classes(scope: ScopedRequirement, names: list[str]) -> None:
    """By each operator; a pod without a class is in no list."""
    pods = [Pod.of("p", priority_class_name=name) for name in ("", "high", "low", "other")]
    assert [pod.spec.priority_class_name for pod in pods if meets(pod, scope)] == names


@pytest.mark.spec("PRI-20")
def test_the_other_scopes_are_so_or_not() -> None:
    """Whether it has a deadline, and whether it asks for anything."""
    pods = {
        "idle": pod_of(container()),
        "timed": pod_of(container(), active_deadline_s=0),
        "asking": pod_of(container("main", {"cpu": 1})),
    }
    met = {
        scope: [
            name for name, pod in pods.items() if meets(pod, ScopedRequirement(scope, "Exists"))
        ]
        for scope in ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "Unheard")
    }
    assert met == {
        "Terminating": ["timed"], "NotTerminating": ["idle", "asking"],
        "BestEffort": ["idle", "timed"], "NotBestEffort": ["asking"], "Unheard": [],
    }  # fmt: skip


@pytest.mark.spec("PRI-20")
def test_a_quota_counts_pods_that_meet_all_it_asks() -> None:
    """Plain scopes and expressions alike; one that asks for nothing counts all."""
    selector = ScopeSelector((by_class("Exists"), by_class("NotIn", "low")))
    quota = ResourceQuota("q", spec=QuotaSpec(scopes=("BestEffort",), scope_selector=selector))
    assert [scope.scope_name for scope in scopes_of(quota)] == [
        "BestEffort", "PriorityClass", "PriorityClass",
    ]  # fmt: skip
    counted = [
        (name, cpu_m)
        for name in ("", "low", "high")
        for cpu_m in (None, 100)
        if counts(quota, Pod.of("p", cpu_m=cpu_m, priority_class_name=name))
    ]
    assert counted == [("high", None)]
    assert counts(ResourceQuota("q"), Pod("p"))
