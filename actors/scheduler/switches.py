"""Switches: how a scheduler behaves where versions of Kubernetes, and people, differ; profiles."""

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
"""The names of those that are built in."""


@attrs.frozen
class SchedulerSwitches:
    """Every one of them, as it is in 1.26 unless said otherwise (GEN-2)."""

    # -- what is one's own ----------------------------------------------------------------------
    filters: str = parts(
        "filter", "a subclass of Filter", "prepare check", *FILTERS, found=filter_classes
    )
    """What may say no to a node."""
    scores: str = parts("score", "a subclass of Score", "prepare score weight", *SCORES)
    """What likes one node more than another; those that are built in go by `placement`."""
    victims: str = part("victim selector", "a class with `victims(dry_run)`", "victims")
    """Who has to go of those that may; built in: by `victim_minimisation` and `reprieve_order`."""
    plugins: str = parts("plugin", "a class with a method of points.py", "")
    """What else has a say once a node was chosen, or none was found (`points.py`)."""
    decider: str = part("decider", "a class with `decide`", "decide")
    """Who decides of a pod, in place of filters, scores and preemption."""
    scheduler: str = part("scheduler", "an Actor", "run rank", takes="name")
    """The program that schedules, in place of this one."""
    # -- the queue ------------------------------------------------------------------------------
    queue: str = one_of("priority", "fifo")
    """Where pods wait: as the real one keeps them, or in one line as it was of old."""
    fifo_retry: str | int = one_of("backoff", least=1)
    """How long a pod that failed stays out of that line: a second, doubling to a minute, or always
    so many milliseconds (SCH-30)."""
    requeue_scope: str = one_of("plugin_events", "everything")
    """Which pods an event moves: those that some filter it failed waits for it, or all."""
    requeue_on_nnn_clear: bool = on_off(False)
    """Whether a pod whose nomination was cleared is tried again for that alone."""
    # -- the cache ------------------------------------------------------------------------------
    assume_ttl_ms: int = whole(0)
    """How long a pod whose binding has finished stays assumed if nobody sees it; 0: for ever."""
    nominated_accounting: str = one_of("ge_priority", "none")
    """Which nominated pods count where they are nominated."""
    own_nomination: str = one_of("try_first", "ignore")
    """Whether the node a pod is nominated to is looked at before any other."""
    nnn_storage: str = one_of("status", "annotation")
    """Where a nomination is written."""
    # -- several replicas -----------------------------------------------------------------------
    fencing: bool = on_off(False)
    """Whether one that has been deposed is kept from binding (leading.py)."""
    # -- scoring --------------------------------------------------------------------------------
    placement: str = one_of("least_allocated", "most_allocated", "first_fit_by_name")
    """Which of the nodes that fit is liked best, by its resources."""
    # -- preemption -----------------------------------------------------------------------------
    disable_preemption: bool = on_off(False)
    """Whether no pod makes room for itself, however important it is."""
    eligibility_terminating: str = one_of("any_lower", "preempted_only")
    """Which pods that are on their way make a nominated pod wait."""
    preempt_offset: str = one_of("0", "random")
    """Where the search for candidates begins."""
    victim_tiebreak: str = one_of("start_time", "qos", "qos_then_start", "none")
    """Which of two pods of one priority counts for more: the one that began earlier, the one of the
    better quality of service, that and then the earlier, or neither (SCH-82)."""
    victim_last_tie: str = one_of("added", "name")
    """What decides between victims that are equal otherwise: who came to the node first, or whose
    namespace and name do."""
    reprieve_order: str = one_of("desc", "asc")
    """Whether the most important pods are spared first, or the least important (SCH-85)."""
    victim_minimisation: str = one_of("greedy", "min_count")
    """Whether victims are spared one by one, or the fewest that do are looked for (SCH-86)."""
    pdb_mode: str = one_of("best_effort", "strict", "ignore")
    """What a disruption budget is worth: spared where that can be, never broken, or not looked at
    (SCH-95)."""
    bug_victims_unsorted: bool = on_off(True)
    """The first victim stands for the most important one, though it may not be that."""
    disruption_condition: bool = on_off(True)
    """Whether a victim is told why, by a condition, before it is deleted (SCH-96)."""
    bug_disruption_status_from_preemptor: bool = on_off(True)
    """A victim's status is patched to what the preemptor's is."""
    preempt_delete_precondition: str = one_of("none", "uid")
    """Whether a victim is deleted by its name alone, or only if it is still the same (SCH-98)."""
    victim_not_found: str = one_of("error", "ignore")
    """What a victim that is gone already does: end the preemption with an error, or nothing."""
    clear_lower: str = one_of("all", "only_if_unfit")
    """Which less important pods lose their nomination to the chosen node: all, or those that do
    not fit beside the new one (SCH-100)."""
    affinity_to_victims: int = whole(0)
    """An experiment: of how many pods a set may be that is spared for the preemptor's affinity."""
    cross_node_victims: int = whole(0)
    """An experiment: how many victims there may be on other nodes; 0: none, as it ever was."""
    cross_node_nodes: int = whole(4, least=1)
    """On how many other nodes they may be."""
    avoid_node_after_eviction_ms: int = whole(0)
    """For how long a workload keeps away from a node that evicted a pod of it; 0: not at all."""
    avoid_how: str = one_of("deprioritise", "exclude")
    """Whether such a node is the last resort, or none (SCH-108)."""
    hostile: bool = on_off(False)
    """Whether it takes the pods of other schedulers for less important than its own."""


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
        "eligibility_terminating": "preempted_only",
        "victim_not_found": "ignore",
        "bug_victims_unsorted": "off",
        "bug_disruption_status_from_preemptor": "off",
    },
}
"""Bundles of switches, where they are not as in 1.26 (GEN-1)."""


SCHEDULER = Component("scheduler", SchedulerSwitches, PROFILES, program="scheduler")


def switches_of(
    profile: str = DEFAULT, given: Mapping[str, str] | None = None
) -> SchedulerSwitches:
    """Every switch, as a profile has it or as is given besides; UnknownName, ScenarioError."""
    made: SchedulerSwitches = SCHEDULER.of(profile, given)
    return made
