"""Waiting pods: none that needs a new node is passed over (INV-36)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from actors.autoscaler.invariants.passes import (
    JudgesPasses,
    SeenPass,
    autoscalers,
    group_key,
    key_of,
    node_key,
)
from actors.autoscaler.invariants.plain_cluster import (
    PlainCluster,
    admits,
    is_daemon,
    is_expendable,
    is_nominated,
    laid_out,
    overfull,
    stands_alone,
)
from actors.autoscaler.pass_record import (
    DAEMON,
    EXPENDABLE,
    NOMINATED,
    NOT_TRIED,
    SCHEDULABLE,
    SUCCESSFUL,
    YOUNG,
    PodFate,
)
from actors.autoscaler.pass_sight import PassSight
from actors.autoscaler.settings import UNLIMITED_CORES, UNLIMITED_MEMORY
from testbed import Evidence
from testbed.invariant import TURN
from testbed.objects import Pod, requests_of
from testbed.objects.condition import find
from testbed.turns.found import MISSING, TOO_MANY, Found, Wrong

DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
NEW_MS = 3_000
"""Up to this age a pod may have to wait, as others may follow: 2 s, and up to 1 s by rounding."""


class NoPodIsPassedOver(JudgesPasses):
    """If a new node would take a waiting pod, and no node that exists or is still to come would,
    the pass makes the cluster larger: unless the pod is expendable, nominated, or too young, or
    each group that could help is full, in backoff or unhealthy (INV-36).

    If a record says that a pod is expendable, nominated or young, or has room, it claims that this
    is so. A node that is tainted to go shows as one that is still to come (CA-21).
    """

    name = "no_pod_is_passed_over"
    breach_reason = MISSING
    reads = frozenset({"log:nodegroups"})
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def end(self, evidence: Evidence) -> Wrong:
        """At rest, its last pass has seen each pod that still waits."""
        for role in autoscalers(evidence):
            sight: PassSight | None = role.life.shown.get("sight")
            if sight is None or role.actor.settings.passes_ms or role.actor.elects:
                continue
            known = {pod.meta.uid for pod in sight.unschedulable}
            for pod in _waiting(evidence):
                if pod.meta.uid not in known:
                    text = f"{role.name} makes no more passes, and {key_of(pod)} waits"
                    return Found.of(text, pod, actors=role.name)
        return None

    def wrong_with(self, seen: SeenPass, evidence: Evidence) -> Found | None:
        """What is wrong with a pass; None if nothing is."""
        record = seen.record
        if record.ended_early:
            return None
        cluster = laid_out(seen, evidence)
        if wrong := _overpacked(cluster):
            return wrong
        if record.error:
            return None
        for pod in seen.sight.unschedulable:
            fate = record.pods.get(key_of(pod))
            if fate is None:
                return Found.of(f"does not say what becomes of {key_of(pod)}", pod)
            if why := _wrong_with(pod, fate, seen, cluster):
                text = f"takes {key_of(pod)} for one that is {fate.fate}, {why}"
                return Found.of(text, pod, *((node_key(fate.node),) if fate.node else ()))
            is_left = fate.fate not in (EXPENDABLE, NOMINATED, SCHEDULABLE, YOUNG, DAEMON)
            if is_left and record.scale_up.result != SUCCESSFUL:
                groups = _helping(pod, seen, cluster)
                if groups:
                    text = f"adds no node for {key_of(pod)}, which {groups[0]} could take"
                    return Found.of(text, pod, group_key(groups[0]))
        return None


def _waiting(evidence: Evidence) -> Iterator[Pod]:
    """The pods for which a scheduler has found no node."""
    for entry in evidence.store.snapshot("pods/"):
        pod: Any = entry.value
        said = find(pod.status.conditions, "PodScheduled")
        is_refused = said is not None and (said.status, said.reason) == ("False", "Unschedulable")
        if is_refused and not pod.is_bound and not pod.is_over:
            yield pod


def _overpacked(cluster: PlainCluster) -> Found | None:
    """Whether pods were put where there is no room for all of them."""
    for name, keys in cluster.packed.items():
        node = cluster.get(name)
        if node is None:
            text = f"puts {keys[0]} on {name}, and no such node is there or to come"
            return Found.of(text, f"pods/{keys[0]}", node_key(name))
        here = cluster.there[name]
        wanted = [requests_of(pod) for pod in here if key_of(pod) in keys]
        for each in wanted:
            if name := overfull(node, here, each):
                text = f"puts {', '.join(keys)} on {node.meta.name}, which has not enough {name}"
                return Found.of(text, *(f"pods/{key}" for key in keys), node, reason=TOO_MANY)
    return None


def _wrong_with(pod: Pod, fate: PodFate, seen: SeenPass, cluster: PlainCluster) -> str:
    """What is wrong with the reason why a pod is not helped; empty if nothing is."""
    switches = seen.switches
    if fate.fate == EXPENDABLE and not is_expendable(pod, switches.expendable_cutoff):
        return f"and its priority is {pod.spec.priority}"
    if fate.fate == NOMINATED:
        is_one = is_nominated(pod, switches.nominated_rule, cluster.nodes)
        return "" if is_one else "and it is not"
    if fate.fate == YOUNG and DELAY not in pod.meta.annotations:
        age_ms = seen.record.at_ms - (pod.meta.created_ms or 0)
        is_old = age_ms > seen.settings.new_pod_scale_up_delay_ms + NEW_MS
        return f"and it is {age_ms} ms old" if is_old else ""
    if fate.fate == DAEMON and not (switches.filter_daemonset_pods and is_daemon(pod)):
        return "and that does not count"
    if fate.fate == SCHEDULABLE:
        node = cluster.get(fate.node)
        if node is not None and not admits(pod, node):
            return f"and {fate.node} keeps it out"
    return ""


def _helping(pod: Pod, seen: SeenPass, cluster: PlainCluster) -> list[str]:
    """The groups that could grow, and where a new node would take the pod."""
    record, settings = seen.record, seen.settings
    is_new = record.at_ms - (pod.meta.created_ms or 0) <= NEW_MS
    is_limited = (
        settings.max_nodes_total
        or settings.max_cores < UNLIMITED_CORES
        or settings.max_memory < UNLIMITED_MEMORY
    )
    if is_new or is_limited or cluster.has_daemons or not stands_alone(pod) or is_daemon(pod):
        return []
    if record.scale_up.result == NOT_TRIED or DELAY in pod.meta.annotations:
        return []
    return [name for name in cluster.groups_for(pod) if _may_grow(name, seen)]


def _may_grow(name: str, seen: SeenPass) -> bool:
    """Whether a group could grow, as far as is known. A group with unready or lost nodes is taken
    not to."""
    group: Any = next(each for each in seen.sight.groups if each.name == name)
    nodes = [node for node in seen.sight.nodes if node.meta.name in group.nodes]
    is_lost = bool(group.target) and not group.nodes
    missing = group.target - len(nodes)
    until_ms = seen.state.backoff.until_ms(name)
    limit_ms = seen.record.at_ms + seen.settings.max_backoff_ms
    is_backed_off = until_ms is not None and seen.record.at_ms < until_ms <= limit_ms
    is_ailing = is_lost or (missing > 0 and seen.settings.ok_total_unready_count < missing)
    return group.target < group.max_size and not is_backed_off and not is_ailing
