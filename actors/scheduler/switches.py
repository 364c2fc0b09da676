"""Switches: each behaviour of a scheduler that differs between versions or proposals; profiles."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.framework.filters import filter_classes
from testbed.policy import part, parts
from testbed.switches import USUAL, Component, on_off, one_of, whole

FILTERS = (
    "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
    "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
)  # fmt: skip
SCORES = (
    "NodeResourcesFit", "NodeResourcesBalancedAllocation", "TaintToleration", "NodeAffinity",
    "PodTopologySpread", "InterPodAffinity", "FirstFitByName",
)  # fmt: skip
"""The names of the built-in ones."""


@attrs.frozen
class SchedulerSwitches:
    """All switches of a scheduler; the defaults are the behaviour of Kubernetes 1.26 (GEN-2)."""

    # -- parts that a user may replace -----------------------------------------------------------
    filters: str = parts(
        "filter", "a subclass of Filter", "prepare check", *FILTERS, found=filter_classes
    )
    """Which filters run."""
    scores: str = parts("score", "a subclass of Score", "prepare score weight", *SCORES)
    """Which scores run; the built-in ones depend on `placement`."""
    victims: str = part("victim selector", "a class with `victims(dry_run)`", "victims")
    """Selects the victims; built in: by `victim_minimisation` and `reprieve_order`."""
    plugins: str = parts("plugin", "a class with a method of plugins.py", "")
    """Plugins at the extension points after a node was chosen, or none was found (`plugins.py`)."""
    decider: str = part("decider", "a class with `decide`", "decide")
    """Decides for a pod, in place of filters, scores and preemption."""
    scheduler: str = part("scheduler", "an Actor", "run rank", takes="name")
    """The program that runs in place of this scheduler."""
    # -- the queue ------------------------------------------------------------------------------
    queue: str = one_of("priority", "fifo")
    """The scheduling queue: the priority queue of Kubernetes 1.26, or the FIFO queue before it."""
    fifo_retry: str | int = one_of("backoff", least=1)
    """The backoff in the FIFO queue: one second, doubling up to a minute, or a fixed number of
    milliseconds (SCH-30)."""
    requeue_scope: str = one_of("plugin_events", "everything")
    """Which pods an event requeues: those refused by a filter that waits for it, or all."""
    node_events: str = one_of("improved", "all")
    """Which updates of a node are an event: those by which it may suit more pods, or, as in 1.12,
    all, heartbeats too (SCH-21, kubernetes#70316)."""
    backs_off: bool = on_off(True)
    """Whether a pod of the priority queue that has failed backs off before it is tried again; else,
    as in 1.12, an event makes it active at once (SCH-11, kubernetes#71486)."""
    requeue_on_nnn_clear: bool = on_off(False)
    """Whether a pod is requeued because its nomination was cleared."""
    requeue_others_on_nnn_clear: bool = on_off(False)
    """Whether pods that are not more important are requeued when the informer shows that a pod is
    nominated there no longer, or is gone, as since kubernetes PR#129058 (SCH-27)."""
    in_flight: str = one_of("move_cycle", "event_list", "bug_event_list")
    """How the priority queue knows what came while a pod was tried: by the cycle of the last move;
    by a list of events, as where the feature gate SchedulerQueueingHints is on; or by that of
    1.28.0, in which a pod can lose its place (SCH-16, mended in 1.28 by kubernetes PR#120445)."""
    cycle_ms: int = whole(0)
    """How long a scheduling cycle takes, once it has looked at the cluster; in a large cluster it
    takes some time, in which events come."""
    # -- the cache ------------------------------------------------------------------------------
    pods_seen: str = one_of("all", "own")
    """Which pods its informer shows: all, or, as before kubernetes PR#63003, only those that name
    it as their scheduler (SCH-2)."""
    assume_ttl_ms: int = whole(0)
    """How long a pod stays assumed after its binding, if no informer reports it; 0: for ever."""
    nominated_accounting: str = one_of("ge_priority", "none")
    """Which nominated pods filters count on their node: those of at least the priority of the pod
    in question, or none (SCH-59)."""
    nominations: str = one_of("own", "all")
    """Whose nominations it knows: those of the pods that are its own to place, as in Kubernetes, or
    those of every scheduler's pods (SCH-109)."""
    nomination_counts: str = one_of("at_once", "when_seen")
    """When it counts a nomination that it has made itself: at once, or, as before kubernetes
    PR#72259, when its informer shows the patch (SCH-48)."""
    nominates_gone: bool = on_off(False)
    """Whether a pod is nominated that was deleted or bound while it was tried, as before kubernetes
    PR#102498 (SCH-47)."""
    own_nomination: str = one_of("try_first", "ignore")
    """Whether the node a pod is nominated to is tried before all others."""
    nnn_storage: str = one_of("status", "annotation")
    """Where a nomination is written: in the status, in one patch with why the pod waits; or, as
    before, in an annotation, by a patch of its own after that one."""
    # -- several replicas -----------------------------------------------------------------------
    fencing: bool = on_off(False)
    """Whether a replica that has lost the lease is kept from binding."""
    # -- scoring --------------------------------------------------------------------------------
    placement: str = one_of("least_allocated", "most_allocated", "first_fit_by_name")
    """Which of the feasible nodes is preferred, by its resources."""
    # -- preemption -----------------------------------------------------------------------------
    disable_preemption: bool = on_off(False)
    """Whether preemption is off, whatever the priority of a pod."""
    preemptor: str = one_of("scheduler", "rescheduler", "kubelet", "none")
    """Which program makes room for a pod that fits nowhere: the scheduler, as in Kubernetes; a
    Rescheduler, every now and then; the kubelet, which gets the pod bound to its node although less
    important ones are still there; or none, so that only the queue goes by priority (CTL-50)."""
    eligibility_terminating: str = one_of("any_lower", "preempted_only")
    """Which terminating pods on its nominated node keep a pod from preempting again."""
    preempt_offset: str = one_of("0", "random")
    """The node at which the search for candidates starts."""
    victim_primary: str = one_of("priority", "qos")
    """What makes a pod more important in the first place: its priority, or, as an alternative that
    Kubernetes rejected, its QoS class, with priority for ties (CTL-56)."""
    victim_tiebreak: str = one_of("start_time", "qos", "qos_then_start", "none")
    """Which of two pods of equal priority is more important: the one that started earlier, the one
    of the better QoS class, that and then the earlier, or neither (SCH-82)."""
    victim_last_tie: str = one_of("added", "name")
    """What decides between victims that are equal otherwise: the order in which they came to the
    node, or namespace and name."""
    reprieve_order: str = one_of("desc", "asc")
    """Whether the most important pods are reprieved first, or the least important (SCH-85)."""
    victim_minimisation: str = one_of("greedy", "min_count")
    """Whether victims are reprieved one by one, or the fewest that suffice are found (SCH-86)."""
    pdb_mode: str = one_of("best_effort", "strict", "ignore")
    """How PodDisruptionBudgets count: violated only if needed, never, or ignored (SCH-95)."""
    bug_victims_unsorted: bool = on_off(True)
    """A fault of 1.26: the first victim counts as the most important one, even if it is not."""
    nominate: str = one_of("after_victims", "before_victims")
    """Whether a nomination is written once the victims are deleted, or before the first is: then by
    a write that names the revision of the pod, and a pod that is nominated and has to make room
    again does so on that node if it can, whatever another would cost (SCH-117)."""
    disruption_condition: bool = on_off(True)
    """Whether a victim gets a DisruptionTarget condition before it is deleted (SCH-96)."""
    bug_disruption_status_from_preemptor: bool = on_off(True)
    """A fault of 1.26: the status of a victim is patched to that of the preemptor."""
    preempt_delete_precondition: str = one_of("none", "uid")
    """Whether a victim is deleted by name alone, or only if its uid is the same (SCH-98)."""
    victims_go_by: str = one_of("delete", "eviction")
    """How a victim goes: by a plain delete, which no budget can refuse, or, as an experiment, by
    the eviction API, which one can. Then it gets no condition from the scheduler."""
    victim_not_found: str = one_of("error", "ignore")
    """What happens if a victim is already gone: preemption ends with an error, or goes on."""
    clear_lower: str = one_of("all", "only_if_unfit")
    """Which pods of lower priority lose their nomination to the chosen node: all, or those that do
    not fit beside the preemptor (SCH-100)."""
    affinity_to_victims: int = whole(0)
    """An experiment: how many pods may be reprieved because the preemptor has affinity to them."""
    cross_node_victims: int = whole(0)
    """An experiment: how many victims there may be on other nodes; 0: none, as in Kubernetes."""
    cross_node_nodes: int = whole(4, least=1)
    """On how many other nodes these victims may be."""
    avoid_node_after_eviction_ms: int = whole(0)
    """How long a workload avoids a node that has evicted a pod of it; 0: not at all."""
    avoid_how: str = one_of("deprioritise", "exclude")
    """Whether such a node is the last resort, or excluded (SCH-108)."""
    hostile: bool = on_off(False)
    """Whether it treats the pods of other schedulers as less important than its own."""
    # -- the rescheduler ------------------------------------------------------------------------
    rescheduler_interval_ms: int = whole(10_000, least=1)
    """How long a Rescheduler rests between two scans (CTL-51)."""
    rescheduler_min_pending_ms: int = whole(0)
    """For how long a pod is unschedulable until a Rescheduler makes room for it."""
    rescheduler_nominates: bool = on_off(False)
    """Whether it also writes the nomination, so that schedulers keep the room free (CTL-52)."""
    rescheduler_taints: bool = on_off(False)
    """Whether it also taints the node, until the pod is bound or ten minutes are over, if the pod
    tolerates that (CTL-53)."""


DEFAULT = USUAL
PROFILES: dict[str, dict[str, str]] = {
    "alpha": {
        "victim_last_tie": "name",
        "queue": "fifo",
        "nominated_accounting": "none",
        "own_nomination": "ignore",
        "nnn_storage": "annotation",
        "pdb_mode": "ignore",
        "bug_victims_unsorted": "off",
        "disruption_condition": "off",
        "bug_disruption_status_from_preemptor": "off",
    },
    "seed": {
        "victim_last_tie": "name",
        "requeue_on_nnn_clear": "on",
        "requeue_scope": "everything",
        "own_nomination": "ignore",
        "nnn_storage": "annotation",
        "victim_tiebreak": "qos_then_start",
        "clear_lower": "only_if_unfit",
        "bug_victims_unsorted": "off",
        "disruption_condition": "off",
        "bug_disruption_status_from_preemptor": "off",
    },
    DEFAULT: {},
    "k8s-modern": {
        "victim_last_tie": "name",
        "requeue_on_nnn_clear": "on",
        "requeue_others_on_nnn_clear": "on",
        "eligibility_terminating": "preempted_only",
        "victim_not_found": "ignore",
        "bug_victims_unsorted": "off",
        "bug_disruption_status_from_preemptor": "off",
    },
}
"""Named sets of switches: each has those that differ from 1.26 (GEN-1)."""


SCHEDULER = Component("scheduler", SchedulerSwitches, PROFILES, program="scheduler")
BESIDE_SCHEDULER = Component("scheduler", SchedulerSwitches, PROFILES)
"""The same switches for a program that decides by them beside the scheduler, and that no other
scheduler takes the place of."""


def switches_of(
    profile: str = DEFAULT, given: Mapping[str, str] | None = None
) -> SchedulerSwitches:
    """All switches under a profile and `given` ones; UnknownName, ScenarioError.

    For what has no World to ask: tests, and the comparison with recordings of Kubernetes.
    """
    made: SchedulerSwitches = SCHEDULER.of(profile, given)
    return made
