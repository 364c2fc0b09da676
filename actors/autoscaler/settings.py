"""AutoscalerSettings: the options of a cluster autoscaler; the defaults are the flags of 1.26."""

from __future__ import annotations

import attrs

from actors.shared.settings import at_least, in_order
from testbed.errors import ScenarioError

GIB = 2**30
UNLIMITED_CORES, UNLIMITED_MEMORY = 320_000, 6_400_000 * GIB
"""The limits of a whole cluster that 1.26 has by default."""


@attrs.frozen
class AutoscalerSettings:
    """All of them. Times are in ms; what is a fraction as a flag is in thousandths here."""

    scan_interval_ms: int = attrs.field(default=10_000, validator=at_least(1))
    """From the end of one pass to the next (CA-1)."""
    passes_ms: tuple[int, ...] = ()
    """The times of its passes, instead of the interval."""
    # -- which pods ask for room ------------------------------------------------------------------
    new_pod_scale_up_delay_ms: int = attrs.field(default=0, validator=at_least(0))
    """How old a pod must be before it asks for room (CA-14)."""
    # -- how far a cluster grows ------------------------------------------------------------------
    max_nodes_total: int = attrs.field(default=0, validator=at_least(0))
    """How many nodes there may be; 0: as many as the groups allow."""
    min_cores: int = attrs.field(default=0, validator=at_least(0))
    """How many cores the cluster keeps."""
    max_cores: int = attrs.field(default=UNLIMITED_CORES, validator=at_least(0))
    """How many cores it may have, in all groups and outside of them."""
    min_memory: int = attrs.field(default=0, validator=at_least(0))
    """In bytes."""
    max_memory: int = attrs.field(default=UNLIMITED_MEMORY, validator=at_least(0))
    """In bytes."""
    max_nodes_per_scaleup: int = attrs.field(default=1000, validator=at_least(1))
    """The most nodes that one pass asks for."""
    balance_similar_node_groups: bool = False
    """Whether new nodes are spread over groups that are alike."""
    enforce_node_group_min_size: bool = False
    """Whether groups are filled up to their minimum."""
    # -- requests to the cloud --------------------------------------------------------------------
    max_node_provision_time_ms: int = attrs.field(default=900_000, validator=at_least(1))
    """How long an instance may take until its node is registered (CA-5, CA-23)."""
    initial_backoff_ms: int = attrs.field(default=300_000, validator=at_least(0))
    """How long a group is left alone after its first failure; it doubles."""
    max_backoff_ms: int = attrs.field(default=1_800_000, validator=at_least(0))
    """How long at most."""
    backoff_reset_ms: int = attrs.field(default=10_800_000, validator=at_least(0))
    """A group is forgiven this long after its last failure."""
    # -- health -----------------------------------------------------------------------------------
    ok_total_unready_count: int = attrs.field(default=3, validator=at_least(0))
    """That many unready nodes never stop it (CA-4)."""
    max_total_unready_per_mille: int = attrs.field(default=450, validator=at_least(0, most=1000))
    """Beyond that, this share of all nodes does."""
    # -- scale-down -------------------------------------------------------------------------------
    scale_down_enabled: bool = True
    """Whether nodes are deleted at all."""
    utilization_threshold_per_mille: int = attrs.field(
        default=500, validator=at_least(0, most=1000)
    )
    """A node that is used less may go (CA-25)."""
    unneeded_time_ms: int = attrs.field(default=600_000, validator=at_least(0))
    """How long a node must be unneeded (CA-27)."""
    unready_time_ms: int = attrs.field(default=1_200_000, validator=at_least(0))
    """The same of a node that is not ready."""
    delay_after_add_ms: int = attrs.field(default=600_000, validator=at_least(0))
    """How long after a scale-up no node is deleted (CA-30)."""
    delay_after_delete_ms: int = attrs.field(default=0, validator=at_least(0))
    """How long after deletions have begun no more begin."""
    delay_after_failure_ms: int = attrs.field(default=180_000, validator=at_least(0))
    """How long after a taint that could not be written."""
    unremovable_recheck_ms: int = attrs.field(default=300_000, validator=at_least(0))
    """How long the verdict of a trial is believed."""
    max_empty_bulk_delete: int = attrs.field(default=10, validator=at_least(0))
    """How many empty nodes go at once, counting those that are already going."""
    max_bulk_soft_taint_count: int = attrs.field(default=10, validator=at_least(0))
    """How many soft taints a pass writes; 0: none."""
    non_empty_candidates_count: int = attrs.field(default=30, validator=at_least(0))
    """How many nodes with pods are tried in one pass."""
    node_delete_delay_after_taint_ms: int = attrs.field(default=5_000, validator=at_least(0))
    """Between the taint and the second look at the node's pods (CA-29)."""
    max_graceful_termination_ms: int = attrs.field(default=600_000, validator=at_least(0))
    """How long pods of a drained node are awaited, beside 30 s."""
    max_pod_eviction_time_ms: int = attrs.field(default=120_000, validator=at_least(0))
    """How long evictions are tried."""
    skip_nodes_with_system_pods: bool = True
    """Whether pods of kube-system without a budget hold their node."""
    skip_nodes_with_local_storage: bool = True
    """Whether pods with local storage hold their node."""
    min_replica_count: int = attrs.field(default=0, validator=at_least(0))
    """An owner with fewer replicas holds the node of its pods."""
    ignore_daemonsets_utilization: bool = False
    """Whether daemon pods count for nothing on a node."""
    ignore_mirror_pods_utilization: bool = False
    """Whether mirror pods count for nothing."""
    daemonset_eviction_for_empty_nodes: bool = False
    """Whether daemon pods are evicted from empty nodes."""
    daemonset_eviction_for_occupied_nodes: bool = True
    """Whether they are evicted from nodes that are drained."""
    cordon_node_before_terminating: bool = False
    """Whether a node that goes is cordoned, too."""
    parallel_drain: bool = False
    """Whether removals are planned to add up, so that nodes may go side by side; 1.26 has this, and
    does not use it unless it is told to."""
    max_drain_parallelism: int = attrs.field(default=1, validator=at_least(1))
    """How many nodes are drained at once; more than one only if drains are parallel."""

    def __attrs_post_init__(self) -> None:
        in_order(self, "min_cores", "max_cores")
        in_order(self, "min_memory", "max_memory")
        if self.max_drain_parallelism > 1 and not self.parallel_drain:
            raise ScenarioError(
                f"AutoscalerSettings.max_drain_parallelism is {self.max_drain_parallelism}: "
                "expected 1, since drains are not parallel.\nNext: say parallel_drain=True, too."
            )
