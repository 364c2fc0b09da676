"""Drainability: which pods of a node would have to move for it to go, and which forbid it.

Pod by pod, in the order in which they are on the node, the first one that forbids it decides:

1. Mirror pods, and pods that should have been gone for long, do not matter.
2. A pod's owner must exist, and have enough replicas.
3. Pods of DaemonSets need not move.
4. A pod must be one that something creates again; not in kube-system, unless a budget covers it;
   without local storage; and not annotated as unsafe to evict. The annotation that it is safe, or
   that it has ended, excuses it from all of this, but not from 2.

Then each budget that covers a pod which would move must allow one disruption. How many pods it
covers here makes no difference (CA-26).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from actors.autoscaler.scale_down.overtime import is_long_terminating
from actors.shared.critical import is_mirror
from actors.shared.daemon_pods import is_daemon_pod
from actors.shared.owners import controller_of
from testbed.objects import Object, Pod, PodDisruptionBudget
from testbed.objects.pod import FAILED, SUCCEEDED

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
"""Annotations of a pod; the second names volumes, separated by commas."""
KUBE_SYSTEM = "kube-system"
CONTROLLER_NOT_FOUND = "ControllerNotFound"
MIN_REPLICAS_REACHED = "MinReplicasReached"
NOT_REPLICATED = "NotReplicated"
LOCAL_STORAGE = "LocalStorageRequested"
NOT_SAFE_TO_EVICT = "NotSafeToEvictAnnotation"
UNMOVABLE_SYSTEM_POD = "UnmovableKubeSystemPod"
NOT_ENOUGH_BUDGET = "NotEnoughPdb"
REPLICATING = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
"""The kinds of owners that create a lost pod again, as far as the autoscaler knows."""
SCALED = ("ReplicationController", "ReplicaSet")
"""Those with a number of replicas that is compared with the least one."""
DAEMON_SET = "DaemonSet"
Owners = Callable[[str, str, str], Object | None]
"""Finds an owner by kind, namespace and name; None if there is none."""


@attrs.frozen
class DrainRules:
    """What may be asked of a pod before its node goes."""

    skip_system_pods: bool = True
    """Whether pods of kube-system without a budget hold their node."""
    skip_local_storage: bool = True
    """Whether pods with local storage hold their node."""
    min_replica_count: int = 0
    """The fewest replicas that an owner must have."""


@attrs.frozen
class Moving:
    """The pods of a node that may go."""

    pods: tuple[Pod, ...]
    """Those that must find another place."""
    daemons: tuple[Pod, ...]
    """Those of DaemonSets."""


@attrs.frozen
class BlockingPod:
    """The pod that holds a node, and why."""

    pod: Pod
    reason: str
    """In one word of the autoscaler."""

    @property
    def why(self) -> str:
        """The same in a sentence, as an Event words it."""
        return SENTENCES[self.reason].format(
            key=f"{self.pod.meta.namespace}/{self.pod.meta.name}", name=self.pod.meta.name
        )


SENTENCES = {
    CONTROLLER_NOT_FOUND: "replication controller for {key} is not available",
    MIN_REPLICAS_REACHED: "replication controller for {key} has too few replicas",
    NOT_REPLICATED: "{key} is not replicated",
    LOCAL_STORAGE: "pod with local storage present: {name}",
    NOT_SAFE_TO_EVICT: "pod annotated as not safe to evict present: {name}",
    UNMOVABLE_SYSTEM_POD: (
        "non-daemonset, non-mirrored, non-pdb-assigned kube-system pod present: {name}"
    ),
    NOT_ENOUGH_BUDGET: "not enough pod disruption budget to move {key}",
}


def moving(
    pods: Iterable[Pod],
    rules: DrainRules,
    now_ms: int,
    owners: Owners | None = None,
    budgets: Sequence[PodDisruptionBudget] = (),
) -> Moving | BlockingPod:
    """Which pods would have to move, or the one that forbids it. Without `owners`, every owner that
    a pod names is taken to exist."""
    going: list[Pod] = []
    daemons: list[Pod] = []
    for pod in pods:
        if is_mirror(pod) or is_long_terminating(pod, now_ms):
            continue
        reason = _amiss_with_owner(pod, rules, owners)
        if not reason and _is_spared(pod):
            daemons.append(pod)
            continue
        if reason := reason or _held_by(pod, rules, budgets):
            return BlockingPod(pod, reason)
        going.append(pod)
    spent = _without_budget(going, budgets)
    return Moving(tuple(going), tuple(daemons)) if spent is None else spent


def _amiss_with_owner(pod: Pod, rules: DrainRules, owners: Owners | None) -> str:
    """Why the owner of a pod holds it, or nothing. It is looked for by its name only."""
    named = controller_of(pod)
    if named is None or owners is None:
        return ""
    is_known = named.kind == DAEMON_SET or (named.kind in REPLICATING and not _is_spared(pod))
    if not is_known:
        return ""
    owner = owners(named.kind, pod.meta.namespace, named.name)
    if owner is None:
        return CONTROLLER_NOT_FOUND
    replicas = getattr(getattr(owner, "spec", None), "replicas", None)
    is_small = replicas is not None and replicas < rules.min_replica_count
    return MIN_REPLICAS_REACHED if named.kind in SCALED and is_small else ""


def _is_spared(pod: Pod) -> bool:
    """Whether the pod need not move because it is of a DaemonSet. The annotation that says so does
    not count for a pod of a ReplicationController, since that owner is looked for first."""
    owner = controller_of(pod)
    return is_daemon_pod(pod) and (owner is None or owner.kind != "ReplicationController")


def _held_by(pod: Pod, rules: DrainRules, budgets: Iterable[PodDisruptionBudget]) -> str:
    """Why the pod itself may not move, or nothing."""
    safe = pod.meta.annotations.get(SAFE_TO_EVICT, "")
    if safe == "true" or is_terminal(pod):
        return ""
    owner = controller_of(pod)
    if owner is None or owner.kind not in REPLICATING:
        return NOT_REPLICATED
    is_system_pod = pod.meta.namespace == KUBE_SYSTEM and rules.skip_system_pods
    if is_system_pod and not any(covers(budget, pod) for budget in budgets):
        return UNMOVABLE_SYSTEM_POD
    if rules.skip_local_storage and has_local_storage(pod):
        return LOCAL_STORAGE
    return NOT_SAFE_TO_EVICT if safe == "false" else ""


def _without_budget(
    pods: Iterable[Pod], budgets: Iterable[PodDisruptionBudget]
) -> BlockingPod | None:
    for budget in budgets:
        for pod in pods:
            if covers(budget, pod) and budget.status.disruptions_allowed < 1:
                return BlockingPod(pod, NOT_ENOUGH_BUDGET)
    return None


def covers(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether a budget covers the pod, as the autoscaler sees it. An empty selector matches all
    pods of the namespace here; for an eviction it matches none (API-47)."""
    selector, meta = budget.spec.selector, pod.meta
    is_here = selector is not None and budget.meta.namespace == meta.namespace
    return is_here and selector is not None and selector.matches(meta.labels)


def is_terminal(pod: Pod) -> bool:
    """Whether the pod has ended for good."""
    phase = pod.status.phase
    return phase == FAILED or (
        phase == SUCCEEDED and pod.spec.restart_policy in ("Never", "OnFailure")
    )


def has_local_storage(pod: Pod) -> bool:
    """Whether the pod has a volume on its node that no annotation excuses."""
    excused = pod.meta.annotations.get(SAFE_VOLUMES, "").split(",")
    volumes = pod.extra.get("spec", {}).get("volumes", ())
    return any(
        ("emptyDir" in volume or "hostPath" in volume) and volume.get("name") not in excused
        for volume in volumes
    )
