"""A pod is kept from a node by a pod on another one, which no scheduler preempts for it."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import LabelSelector, Map, Node, Pod, PriorityClass
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.node import HOSTNAME

ZONE = "topology.kubernetes.io/zone"
CREATE_MS = 1_000


def q_stays_and_p_waits(see: Evidence) -> str | None:
    """The important pod has no node, and the one on the other node stays."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    on = {pod.meta.name: pod.spec.node_name for pod in pods}
    if on.get("q") != "n2":
        return "pods/default/q has gone from n2"
    return f"pods/default/p is on {on['p']}" if on.get("p") else None


def cross_node(world: World) -> None:
    """A pod cannot use an empty node, since it must not share the zone with a pod on another node.

    Q (priority 0) is on n2. P (100) may only be on n1, which is empty, but must not be in one zone
    with Q, and both nodes are in one. Without Q it would fit. But a scheduler looks for victims on
    the node itself alone, and n1 has none. So the more important pod waits, as long as Q is there.

    Cause: preemption on a node looks at the pods of that node alone.
    Look for: one node of the message is refused for anti-affinity: n1, on which no pod is.
    Source: the design "Pod Preemption in Kubernetes", the docs page "Pod Priority and Preemption".
    Tags: affinity, priority, starvation, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("urgent", value=100))
    for name in ("n1", "n2"):
        world.add(Node.of(name, cpu_m=1_000, labels={HOSTNAME: name, ZONE: "z"}))
    world.add(Pod.of("q", cpu_m=100, labels={"app": "q"}, node_name="n2", grace_s=0))
    far_from_q = PodAffinityTerm(ZONE, LabelSelector(Map(app="q")))
    spec: dict[str, Any] = {
        "affinity": Affinity(pod_anti_affinity=PodAffinity(required=(far_from_q,))),
        "node_selector": Map({HOSTNAME: "n1"}),
        "priority_class_name": "urgent",
    }
    world.start(Scheduler("default-scheduler"))
    world.start(User("ann", ((CREATE_MS, Pod.of("p", cpu_m=100, **spec)),)))
    world.claim(quiescent(q_stays_and_p_waits, reads=()))
