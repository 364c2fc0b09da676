"""Drainability: which pods hold their node, in which order that is found out, what excuses them."""

from __future__ import annotations

import attrs
import pytest

from actors.autoscaler.scale_down.drainability import BlockingPod, DrainRules, moving
from testbed.objects import Map, Pod, PodDisruptionBudget, PodStatus
from tests.each_row import each_row
from tests.models.worlds.idle_nodes import annotated, budget, owned, replica_set

SYSTEM = "kube-system"


def verdict(
    *pods: Pod,
    rules: DrainRules | None = None,
    budgets: tuple[PodDisruptionBudget, ...] = (),
    asks: bool = True,
) -> str:
    """The names of the pods that would move; or the pod that holds the node, and why."""
    owners = replica_set if asks else None
    found = moving(pods, rules or DrainRules(), 0, owners, budgets)
    if isinstance(found, BlockingPod):
        return f"{found.pod.meta.name}: {found.reason}"
    return " ".join(pod.meta.name for pod in found.pods)


def volumes(pod: Pod, *kinds: str) -> Pod:
    """The pod with volumes v0, v1, … of these kinds."""
    listed = tuple(Map({"name": f"v{n}", kind: Map()}) for n, kind in enumerate(kinds))
    return attrs.evolve(pod, extra=Map(spec=Map(volumes=listed)))


@pytest.mark.spec("CA-26")
def test_a_pod_moves_if_its_owner_makes_it_again() -> None:
    """The owner must exist, in the namespace of the pod, and be of a kind that is known."""
    assert verdict(owned("a")) == "a"
    assert verdict(owned("a", owner="")) == "a: NotReplicated"
    assert verdict(owned("a", owner="ReplicaSet/gone")) == "a: ControllerNotFound"
    assert verdict(owned("a", owner="ReplicaSet/gone"), asks=False) == "a"
    assert verdict(owned("elsewhere/a")) == "a: ControllerNotFound"
    assert verdict(owned("a", owner="Custom/x")) == "a: NotReplicated"
    few = DrainRules(min_replica_count=4)
    assert verdict(owned("a"), rules=few) == "a: MinReplicasReached"
    assert verdict(owned("a"), rules=DrainRules(min_replica_count=3)) == "a"


@pytest.mark.spec("CA-26")
def test_the_owner_is_looked_at_before_any_excuse() -> None:
    """Safe to evict excuses from everything else, except from a budget."""
    gone, naked = owned("a", owner="ReplicaSet/gone"), owned("a", owner="")
    assert verdict(annotated(gone, safe_to_evict="true")) == "a: ControllerNotFound"
    assert verdict(annotated(naked, safe_to_evict="true")) == "a"
    assert verdict(annotated(owned("a"), safe_to_evict="false")) == "a: NotSafeToEvictAnnotation"
    safe = annotated(owned("a"), safe_to_evict="true")
    assert verdict(safe, budgets=(budget(0, app="web"),)) == "a: NotEnoughPdb"


@pytest.mark.spec("CA-26")
def test_pods_of_kube_system_need_a_budget() -> None:
    """Any budget of that namespace which covers them; whether it allows is asked afterwards."""
    pod = owned(f"{SYSTEM}/a", owner="ReplicaSet/rs")
    assert verdict(pod, asks=False) == "a: UnmovableKubeSystemPod"
    assert verdict(pod, asks=False, rules=DrainRules(skip_system_pods=False)) == "a"
    assert verdict(pod, asks=False, budgets=(budget(1, SYSTEM, app="web"),)) == "a"
    assert verdict(pod, asks=False, budgets=(budget(1, SYSTEM, app="x"),)).endswith("SystemPod")
    assert verdict(pod, asks=False, budgets=(budget(0, SYSTEM, app="web"),)) == "a: NotEnoughPdb"
    assert verdict(annotated(pod, safe_to_evict="true"), asks=False) == "a"


@pytest.mark.spec("CA-26")
def test_local_storage_holds_a_node() -> None:
    """Unless it is not looked at, or each such volume is excused by its name."""
    pod = volumes(owned("a"), "emptyDir", "configMap", "hostPath")
    assert verdict(pod) == "a: LocalStorageRequested"
    assert verdict(volumes(owned("a"), "configMap")) == "a"
    assert verdict(pod, rules=DrainRules(skip_local_storage=False)) == "a"
    assert verdict(annotated(pod, safe_to_evict="true")) == "a"
    assert verdict(annotated(pod, safe_to_evict_local_volumes="v0,v2")) == "a"
    half = annotated(pod, safe_to_evict_local_volumes="v0")
    assert verdict(half) == "a: LocalStorageRequested"


@pytest.mark.spec("CA-26")
def test_some_pods_need_not_move() -> None:
    """Mirror pods, daemon pods, and those that should be gone. But a daemon pod's DaemonSet must
    exist where owners are asked for; one by annotation has none."""
    mirror = owned("m", owner="").with_meta(annotations={"kubernetes.io/config.mirror": "x"})
    gone = owned("g", owner="").with_meta(deleted_ms=-60_001)
    daemon = owned("d", owner="DaemonSet/ds")
    assert verdict(mirror, gone, daemon, asks=False) == ""
    assert verdict(daemon) == "d: ControllerNotFound"
    assert verdict(annotated(owned("d", owner=""), daemonset_pod="true")) == ""
    assert verdict(owned("g", owner="").with_meta(deleted_ms=-60_000)) == "g: NotReplicated"
    assert verdict(daemon, asks=False, budgets=(budget(0),)) == ""


@pytest.mark.spec("CA-26")
@each_row(
    ("phase", "policy", "moves"),
    [
        ("Failed", "Always", True), ("Succeeded", "Never", True), ("Succeeded", "OnFailure", True),
        ("Succeeded", "Always", False), ("Running", "Never", False),
    ],
)  # fmt: skip
def test_a_pod_that_has_ended_holds_nothing(phase: str, policy: str, moves: bool) -> None:
    """It is over for good if it failed, or succeeded and is not started again."""
    pod = owned("a", owner="", restart_policy=policy)
    found = verdict(attrs.evolve(pod, status=PodStatus(phase)))
    assert found == ("a" if moves else "a: NotReplicated")


def test_the_verdict_has_a_sentence() -> None:
    """As the Event of a deletion that is given up words it."""
    found = moving([owned("x", owner="")], DrainRules(), 0)
    assert isinstance(found, BlockingPod)
    assert found.why == "default/x is not replicated"
