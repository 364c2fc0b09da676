"""A pod must be near a less important one, and so it makes no room at all."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import LabelSelector, Map, Node, Pod, PriorityClass
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.node import HOSTNAME

CREATE_MS = 1_000


def nobody_goes_and_p_waits(see: Evidence) -> str | None:
    """The important pod has no node, and the two that were there stay."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = sorted(pod.meta.name for pod in pods if pod.is_bound)
    if there == ["web", "x"]:
        return None
    return f"on n1 are {' and '.join(f'pods/default/{name}' for name in there)}"


def affinity_to_victim(world: World) -> None:
    """One pod in the way could go, but a pod must be near the other, so none goes and it waits.

    Web and X (priority 0) ask for four of ten cores each. P (100) needs five, and must be near web.
    Without X it would fit. But the scheduler first takes all less important pods away, in thought,
    and web with them; then P is near no pod that it needs, and the node is given up.

    Cause: all less important pods are tried as gone, also one to which there is affinity.
    Look for: what stands behind `preemption:` in the message speaks of affinity, not of cpu.
    Source: the design "Pod Preemption in Kubernetes", the docs page "Pod Priority and Preemption".
    Tags: affinity, priority, starvation, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("urgent", value=100))
    world.add(Node.of("n1", cpu_m=10_000, labels={HOSTNAME: "n1"}))
    for name in ("web", "x"):
        world.add(Pod.of(name, cpu_m=4_000, labels={"app": name}, node_name="n1", grace_s=0))
    near_web = PodAffinityTerm(HOSTNAME, LabelSelector(Map(app="web")))
    affinity = Affinity(pod_affinity=PodAffinity(required=(near_web,)))
    p = Pod.of("p", cpu_m=5_000, priority_class_name="urgent", affinity=affinity)
    world.start(Scheduler("default-scheduler"), User("ann", ((CREATE_MS, p),)))
    world.claim(quiescent(nobody_goes_and_p_waits, reads=()))
