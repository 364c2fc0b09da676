"""Daemon pods: where a DaemonSet has one, what each tolerates, and which node it is for."""

from __future__ import annotations

from actors.shared.owners import controller_of
from testbed.objects import DaemonSet, Node, Pod, Toleration
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, tolerated

DAEMON_POD = "cluster-autoscaler.kubernetes.io/daemonset-pod"
"""The annotation by which a pod counts as a daemon pod to the autoscaler."""
TOLERATED = (
    *((f"node.kubernetes.io/{name}", NO_EXECUTE) for name in ("not-ready", "unreachable")),
    *(
        (f"node.kubernetes.io/{name}", NO_SCHEDULE)
        for name in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)
"""The taints that every daemon pod tolerates."""


def node_of(pod: Pod) -> str:
    """The node of a pod, or the one that it is to be bound to."""
    affinity = pod.spec.affinity
    nodes = affinity.node_affinity if affinity is not None else None
    terms = nodes.required.node_selector_terms if nodes is not None and nodes.required else ()
    named = (field.values[0] for term in terms for field in term.match_fields if field.values)
    return pod.spec.node_name or next(named, "")


def may_run(item: DaemonSet, node: Node) -> tuple[bool, bool]:
    """Whether a node should run a pod, and whether one that runs there may go on (CTL-11)."""
    spec, name = item.spec.template.spec, node.meta.name
    if spec.node_name not in ("", name) or not spec.may_be_on(name, node.meta.labels):
        return False, False
    tolerations = (*spec.tolerations, *usual_tolerations())
    effects = {taint.effect for taint in node.spec.taints if not tolerated(taint, tolerations)}
    return not effects & {NO_SCHEDULE, NO_EXECUTE}, NO_EXECUTE not in effects


def usual_tolerations() -> tuple[Toleration, ...]:
    """What every daemon pod tolerates (CTL-12)."""
    return tuple(Toleration(key, "Exists", effect=effect) for key, effect in TOLERATED)


def is_daemon_pod(pod: Pod) -> bool:
    """Whether it belongs to a DaemonSet, or is annotated to be treated as if it did."""
    owner = controller_of(pod)
    is_owned = owner is not None and owner.kind == "DaemonSet"
    return is_owned or pod.meta.annotations.get(DAEMON_POD) == "true"
