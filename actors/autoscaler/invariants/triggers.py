"""Triggers: the pods for which a cluster grows, and whether they need it (INV-34)."""

from __future__ import annotations

from actors.autoscaler.invariants.passes import JudgesPasses, SeenPass, group_key, key_of, node_key
from actors.autoscaler.invariants.plain_cluster import (
    PlainCluster,
    is_daemon,
    is_expendable,
    is_nominated,
    laid_out,
    nomination_of,
    stands_alone,
)
from actors.autoscaler.pass_record import TRIGGERED
from testbed import Evidence
from testbed.objects import Pod
from testbed.turns.found import Found, told


class TriggersAreInNeed(JudgesPasses):
    """No scale-up is for a pod that is expendable, that waits for its victims, that has room on a
    node which exists or is still to come, or that is of a DaemonSet if those are filtered
    (INV-34). At least one of the pods that it is for fits a new node of the chosen group (INV-35).

    It goes by what the pass had heard when it began.
    """

    name = "triggers_are_in_need"
    reads = frozenset({"log:nodegroups"})

    def wrong_with(self, seen: SeenPass, evidence: Evidence) -> Found | None:
        """What is wrong with a pass; None if nothing is."""
        scale_up = seen.record.scale_up
        fates = {**seen.record.pods, **seen.record.drained}
        triggers = [key for key, fate in fates.items() if fate.fate == TRIGGERED]
        if not triggers or not scale_up.resizes:
            return None
        cluster = laid_out(seen, evidence)
        pods = {key_of(pod): pod for pod in (*seen.sight.bound, *seen.sight.unschedulable)}
        for key in triggers:
            if key not in pods:
                kept = f"pods/{key}"
                return Found.of(f"lets the cluster grow for {key}, which waits for nothing", kept)
            if not pods[key].is_bound and (wrong := _wrong_with(pods[key], seen, cluster)):
                before = f"lets the cluster grow for {key}, "
                return told(wrong, pods[key], before=before)
        return _wrong_with_group(scale_up.best, [pods[key] for key in triggers], cluster)


def _wrong_with(pod: Pod, seen: SeenPass, cluster: PlainCluster) -> str | Found:
    switches = seen.switches
    if is_expendable(pod, switches.expendable_cutoff):
        return "which is expendable"
    if is_nominated(pod, switches.nominated_rule, cluster.nodes):
        node = nomination_of(pod)
        return Found.of(f"which is nominated to {node}", node_key(node))
    if switches.filter_daemonset_pods and is_daemon(pod):
        return "which is of a DaemonSet"
    if cluster.is_sure and stands_alone(pod) and not is_daemon(pod):
        place = next(cluster.places(pod), "")
        return Found.of(f"which has room on {place}", node_key(place)) if place else ""
    return ""


def _wrong_with_group(best: str, pods: list[Pod], cluster: PlainCluster) -> Found | None:
    if best not in cluster.templates:
        return None
    if any(best in cluster.groups_for(pod) or not stands_alone(pod) for pod in pods):
        return None
    names = ", ".join(key_of(pod) for pod in pods)
    text = f"lets {best} grow for {names}, and none of them fits there"
    return Found.of(text, group_key(best), *pods)
