"""A recorded case of preemption as objects: nodes, pods, budgets, and the pod to schedule."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.objects import Map, Meta, Node, Pod, PodDisruptionBudget
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, Taint, Toleration
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.labels import LabelSelector
from testbed.objects.pod import PodStatus

DELETED_MS = 10**9
"""When each pod that is to go was to be gone; nothing asks how long ago that is."""


@attrs.frozen
class Case:
    """A case as objects."""

    name: str
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    """In the order in which they came to their nodes, or were nominated."""
    budgets: tuple[PodDisruptionBudget, ...]
    pending: Pod
    """The one to place."""


def case_of(tree: dict[str, Any]) -> Case:
    """Make the Case of a recorded line."""
    return Case(
        tree["id"],
        tuple(_node(each) for each in tree["nodes"]),
        tuple(_pod(each) for each in tree["pods"]),
        tuple(_budget(each) for each in tree["pdbs"]),
        _pod(tree["pending"]),
    )


def _node(tree: dict[str, Any]) -> Node:
    has = tree["capacity"]
    return Node.of(
        tree["name"],
        cpu_m=has["cpu_milli"],
        memory=has["memory"],
        pods=has["pods"],
        labels=tree["labels"],
        unschedulable=tree["unschedulable"],
        taints=tuple(Taint(**each) for each in tree["taints"]),
    )


def _pod(tree: dict[str, Any]) -> Pod:
    asked = tree["requests"] or {}
    affinity = tree.get("affinity") or {}
    pod = Pod.of(
        f"{tree.get('namespace') or 'default'}/{tree['name']}",
        cpu_m=asked.get("cpu_milli"),
        memory=asked.get("memory"),
        labels=tree["labels"],
        node_name=tree["node"] or "",
        priority=tree["priority"],
        preemption_policy=tree.get("preemption_policy") or "",
        node_selector=Map(affinity.get("node_selector") or {}),
        affinity=_affinity(affinity),
        tolerations=tuple(Toleration(**each) for each in tree.get("tolerations") or ()),
        grace_s=tree.get("grace"),
    )
    started = tree.get("start_time") if tree["node"] else None
    status = PodStatus(
        nominated_node_name=tree.get("nominated_node") or "",
        start_ms=None if started is None else started * 1000,
    )
    meta = attrs.evolve(
        pod.meta,
        uid=f"uid-of-{pod.meta.namespace}-{pod.meta.name}",
        deleted_ms=DELETED_MS if tree.get("deleting") else None,
    )
    return attrs.evolve(pod, meta=meta, status=status)


def _affinity(tree: dict[str, Any]) -> Affinity:
    return Affinity(
        pod_affinity=PodAffinity(_terms(tree.get("pod_affinity_required"))),
        pod_anti_affinity=PodAffinity(_terms(tree.get("pod_anti_affinity_required"))),
    )


def _terms(trees: list[dict[str, Any]] | None) -> tuple[PodAffinityTerm, ...]:
    return tuple(
        PodAffinityTerm(each["topology_key"], LabelSelector(each["match_labels"]))
        for each in trees or ()
    )


def _budget(tree: dict[str, Any]) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        Meta(tree["name"], tree.get("namespace") or "default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(tree["match_labels"])),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=tree["disruptions_allowed"],
            disrupted_pods=Map(dict.fromkeys(tree.get("disrupted_pods") or (), 0)),
        ),
    )
