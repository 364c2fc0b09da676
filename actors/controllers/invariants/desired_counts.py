"""At rest each workload has the pods that it wants, and no more (INV-31)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from testbed import Evidence, Invariant
from testbed.objects import DaemonSet, Deployment, Job, Node, Pod, ReplicaSet, StatefulSet
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, tolerated
from testbed.turns.found import MISSING, TOO_MANY, UNEQUAL, Found, Wrong

FAILURE = "ReplicaFailure"
WORKLOADS = (ReplicaSet, StatefulSet, Deployment, Job, DaemonSet)


class DesiredCountsAreReached(Invariant):
    """When nothing can move any more, each ReplicaSet and StatefulSet has as many active pods as it
    wants, each Deployment has them all in the ReplicaSet of its template, each Job is over or has
    as many as may run, and each node that a DaemonSet wants has one of its pods. No workload has
    more. If pods are missing, its status says that they could not be created; a pod that does not
    run says why.
    """

    name = "desired_counts_are_reached"
    breach_reason = MISSING
    reads = frozenset()

    def end(self, evidence: Evidence) -> Wrong:
        things: dict[str, list[Any]] = {
            kind.kind: [entry.value for entry in evidence.store.snapshot(f"{kind.plural}/")]
            for kind in (*WORKLOADS, Pod, Node)
        }
        pods: dict[str, list[Pod]] = {}
        for pod in things[Pod.kind]:
            for owner in pod.meta.owners:
                if owner.controller:
                    pods.setdefault(owner.uid, []).append(pod)
        found: Iterator[Found] = (
            said
            for kind in WORKLOADS
            for item in things[kind.kind]
            if not item.meta.is_terminating
            for said in _wrong(item, pods.get(item.meta.uid, []), things)
        )
        return next(found, None)


def _wrong(item: Any, pods: list[Pod], things: dict[str, list[Any]]) -> Iterator[Found]:
    """What is wrong with one workload."""
    active = [pod for pod in pods if not pod.is_over and not pod.meta.is_terminating]
    if isinstance(item, DaemonSet):
        yield from _wrong_on_nodes(item, pods, things[Node.kind])
    elif isinstance(item, Deployment):
        yield from _wrong_in_sets(item, things[ReplicaSet.kind])
    else:
        wanted = _wanted(item)
        if len(active) > wanted and not _waits_to_shrink(item, active):
            text = f"{item.key} wants {wanted} pods and has {len(active)}"
            yield Found.of(text, item, *active, reason=TOO_MANY)
        if len(active) < wanted and not _is_excused(item):
            text = f"{item.key} wants {wanted} pods and has {len(active)}, and does not say why"
            yield Found.of(text, item, *active)
    for pod in active:
        if pod.status.phase in ("", "Pending") and not _says_why(pod):
            text = f"{pod.key} of {item.key} does not run, and does not say why"
            yield Found.of(text, pod, item, fields="status.phase")


def _wanted(item: Any) -> int:
    """How many active pods it wants."""
    if isinstance(item, Job):
        return _wanted_by_job(item)
    return 1 if item.spec.replicas is None else item.spec.replicas


def _wanted_by_job(job: Job) -> int:
    spec, status = job.spec, job.status
    is_over = any(
        each.type in ("Complete", "Failed") and each.is_true for each in status.conditions
    )
    if is_over or spec.suspend:
        return 0
    most = 1 if spec.parallelism is None else spec.parallelism
    return most if spec.completions is None else min(most, spec.completions - status.succeeded)


def _is_excused(item: Any) -> bool:
    """Whether its status says that pods could not be created; or whether the next pod waits: for
    the one before it to be ready, or after a failure."""
    if isinstance(item, Job):
        return bool(item.status.failed)
    if isinstance(item, StatefulSet):
        return item.spec.pod_management_policy != "Parallel"
    return any(each.type == FAILURE and each.is_true for each in item.status.conditions)


def _waits_to_shrink(item: Any, active: Iterable[Pod]) -> bool:
    """Whether pods must go in their order: then none does while one before the last is not
    ready, even if that one waits for the room that the last one takes."""
    if not isinstance(item, StatefulSet) or item.spec.pod_management_policy == "Parallel":
        return False
    in_order = sorted(active, key=lambda pod: (len(pod.meta.name), pod.meta.name))
    return not all(pod.is_ready for pod in in_order[:-1])


def _says_why(pod: Pod) -> bool:
    """Whether a pod that does not run says why: no node has room for it, or its containers wait."""
    waits = any(each.type == "PodScheduled" and not each.is_true for each in pod.status.conditions)
    return waits or pod.is_bound


def _wrong_in_sets(item: Deployment, sets: Iterable[ReplicaSet]) -> Iterator[Found]:
    """Whether all its pods are wanted from one ReplicaSet: then its rollout is over. A rollout that
    waits for pods to become available keeps to the surge."""
    mine = [each for each in sets if any(o.uid == item.meta.uid for o in each.meta.owners)]
    sizes = [1 if each.spec.replicas is None else each.spec.replicas for each in mine]
    wanted = _wanted(item)
    live = [size for size in sizes if size]
    waits = any(
        each.status.available_replicas < size for each, size in zip(mine, sizes, strict=True)
    )
    if item.spec.paused or waits:
        return
    if live != ([wanted] if wanted else []):
        text = f"{item.key} wants {wanted} pods, and its ReplicaSets want {sorted(live)}"
        yield Found.of(text, item, *mine, fields="spec.replicas", reason=UNEQUAL)


def _wrong_on_nodes(item: DaemonSet, pods: list[Pod], nodes: Iterable[Node]) -> Iterator[Found]:
    """Whether each node has one pod if it should, and none if it must not."""
    for node in nodes:
        name, spec = node.meta.name, item.spec.template.spec
        here = [pod for pod in pods if _node_of(pod) == name]
        active = [pod for pod in here if not pod.is_over and not pod.meta.is_terminating]
        may = spec.may_be_on(name, node.meta.labels)
        taints = [
            taint for taint in node.spec.taints if not taint.key.startswith("node.kubernetes")
        ]
        refused = {each.effect for each in taints if not tolerated(each, spec.tolerations)}
        if len(active) > 1 or (active and (not may or NO_EXECUTE in refused)):
            text = f"{item.key} has {len(active)} pods on {name}, and at most one may be there"
            yield Found.of(text, item, node, *active, reason=TOO_MANY)
        is_wanted = may and not refused & {NO_EXECUTE, NO_SCHEDULE}
        if is_wanted and not here:
            yield Found.of(f"{item.key} has no pod on {name}", item, node)


def _node_of(pod: Pod) -> str:
    """The node of a pod, or the one that it must go to."""
    affinity = pod.spec.affinity
    required = affinity and affinity.node_affinity and affinity.node_affinity.required
    terms = required.node_selector_terms if required else ()
    fields = (field for term in terms for field in term.match_fields)
    return pod.spec.node_name or next((field.values[0] for field in fields if field.values), "")
