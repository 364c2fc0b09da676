"""Small clusters to decide on: pods and nodes in few words, and what is decided of a pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from actors.framework.filters import FILTERS
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.decider import Decider
from actors.scheduler.decisions.decision import Decision, Preemption
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption import preempt
from actors.scheduler.preemption.dry_run import VictimSelector
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.switches import switches_of
from testbed.objects import (
    Affinity,
    Condition,
    LabelSelector,
    Map,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from testbed.objects.affinity import PodAffinity, PodAffinityTerm

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
UNIT = 1000
"""A unit of what pods ask for: a cpu."""
NOW_MS = 1_000_000


def a_node(name: str, units: int = 10, *, zone: str = "z", **more: Any) -> Node:
    """One that has so many units, and memory for everybody."""
    labels = {HOST: name, ZONE: zone, **more.pop("labels", {})}
    return Node.of(name, cpu_m=units * UNIT, memory=2**40, labels=labels, **more)


def a_pod(
    name: str,
    units: int | None = 1,
    *,
    on: str = "",
    start: int | None = 0,
    qos: str = "",
    nominated: str = "",
    goes: str = "",
    **more: Any,
) -> Pod:
    """One that asks for so many units. `on`: bound there, running since second `start`; `goes`:
    it is terminating, and for what reason if that is a disruption."""
    labels = more.pop("labels", {})
    cpu_m = None if units is None else units * UNIT
    pod = Pod.of(name, cpu_m=cpu_m, node_name=on, labels=labels, **more)
    start_ms = start * 1000 if on and start is not None else None
    status = attrs.evolve(
        pod.status, start_ms=start_ms, qos_class=qos, nominated_node_name=nominated
    )
    if goes:
        why = Condition(type="DisruptionTarget", status="True", reason=goes)
        status = attrs.evolve(status, conditions=(why,))
        pod = pod.with_meta(deleted_ms=NOW_MS)
    return attrs.evolve(pod.with_meta(uid=f"uid-{name}"), status=status)


def a_budget(
    name: str, allowed: int, labels: Mapping[str, str], **status: Any
) -> PodDisruptionBudget:
    """One that allows so many of the pods with these labels to go."""
    return PodDisruptionBudget(
        name,
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(Map(labels))),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed, **status),
    )


def near(key: str, **labels: str) -> Affinity:
    """It must be near pods with these labels."""
    return Affinity(pod_affinity=PodAffinity(required=(_term(key, labels),)))


def far(key: str, **labels: str) -> Affinity:
    """It must not be near them."""
    return Affinity(pod_anti_affinity=PodAffinity(required=(_term(key, labels),)))


def _term(key: str, labels: Mapping[str, str]) -> PodAffinityTerm:
    return PodAffinityTerm(key, LabelSelector(Map(labels)))


@attrs.frozen
class Nominations:
    """Pods by the node they are nominated to."""

    nominated: Mapping[str, Sequence[PodInfo]]

    @classmethod
    def of(cls, pods: Sequence[Pod]) -> Nominations:
        """As they say it themselves."""
        nominated: dict[str, list[PodInfo]] = {}
        for pod in pods:
            if pod.status.nominated_node_name and not pod.is_bound:
                nominated.setdefault(pod.status.nominated_node_name, []).append(info_of(pod))
        return cls(nominated)


def snapshot_of(*things: Object) -> Snapshot:
    """What a scheduler knows that has heard of these, in their order."""
    cache = SchedulerCache()
    for thing in things:
        if isinstance(thing, Node):
            cache.add_node(thing)
        elif isinstance(thing, Pod) and thing.is_bound:
            cache.add_pod(thing)
    return cache.snapshot()


class Picked:
    """Takes what it is told to, and remembers what it was asked."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, label: str, names: Sequence[str]) -> str:
        self.asked.append((label, tuple(names)))
        return self.answers.get(label.replace(" ", "_"), names[0])


def decide(
    pod: Pod,
    *things: Object,
    budgets: Sequence[PodDisruptionBudget] = (),
    profile: str = "k8s-1.26",
    pick: Picked | None = None,
    **switches: str,
) -> Decision:
    """What is decided of a pod: nodes, and pods that are bound or nominated, are `things`."""
    chosen = switches_of(profile, switches)
    decider = Decider(chosen, FILTERS, PLACEMENTS[chosen.placement], pick or Picked())
    others = [thing for thing in (*things, pod) if isinstance(thing, Pod)]
    nominations = Nominations.of(others)
    return decider.decide(pod, snapshot_of(*things), nominations, budgets, now_ms=NOW_MS)


def preemption_of(
    pod: Pod, *things: Object, selector: VictimSelector | None = None, **given: Any
) -> Preemption:
    """What becomes of its preemption; with a selector of one's own, if it is given one."""
    if selector is not None:
        nominations = Nominations.of([thing for thing in things if isinstance(thing, Pod)])
        found = Feasibility(info_of(pod), snapshot_of(*things), FILTERS, nominations.nominated)
        return preempt(
            found, pod, budgets=(), switches=switches_of(), pick=Picked(), now_ms=NOW_MS,
            selector=selector,
        )  # fmt: skip
    preemption = decide(pod, *things, **given).preemption
    assert preemption is not None
    return preemption


def gone(preemption: Preemption) -> tuple[str, list[str]]:
    """The node that was chosen, and the names of its victims in order."""
    chosen = preemption.chosen
    assert chosen is not None, preemption.said
    return chosen.node, [victim.meta.name for victim in chosen.victims]
