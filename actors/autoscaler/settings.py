"""AutoscalerSettings: the options of a cluster autoscaler; the defaults are the flags of 1.26."""

from __future__ import annotations

import attrs

from actors.shared.settings import at_least

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
    max_cores: int = attrs.field(default=UNLIMITED_CORES, validator=at_least(0))
    min_memory: int = attrs.field(default=0, validator=at_least(0))
    """In bytes."""
    max_memory: int = attrs.field(default=UNLIMITED_MEMORY, validator=at_least(0))
    """In bytes."""
    max_nodes_per_scaleup: int = attrs.field(default=1000, validator=at_least(1))
    balance_similar_node_groups: bool = False
    enforce_node_group_min_size: bool = False
    # -- requests to the cloud --------------------------------------------------------------------
    max_node_provision_time_ms: int = attrs.field(default=900_000, validator=at_least(1))
    """How long an instance may take until its node is registered (CA-5, CA-23)."""
    initial_backoff_ms: int = attrs.field(default=300_000, validator=at_least(0))
    max_backoff_ms: int = attrs.field(default=1_800_000, validator=at_least(0))
    backoff_reset_ms: int = attrs.field(default=10_800_000, validator=at_least(0))
    """A group is forgiven this long after its last failure."""
    # -- health -----------------------------------------------------------------------------------
    ok_total_unready_count: int = attrs.field(default=3, validator=at_least(0))
    max_total_unready_per_mille: int = attrs.field(default=450, validator=at_least(0))
    # -- scale-down -------------------------------------------------------------------------------
    scale_down_enabled: bool = True
    utilization_threshold_per_mille: int = attrs.field(default=500, validator=at_least(0))
    """A node that is used less may go (CA-25)."""
    unneeded_time_ms: int = attrs.field(default=600_000, validator=at_least(0))
    unready_time_ms: int = attrs.field(default=1_200_000, validator=at_least(0))
    delay_after_add_ms: int = attrs.field(default=600_000, validator=at_least(0))
    delay_after_delete_ms: int = attrs.field(default=0, validator=at_least(0))
    delay_after_failure_ms: int = attrs.field(default=180_000, validator=at_least(0))
    unremovable_recheck_ms: int = attrs.field(default=300_000, validator=at_least(0))
    max_empty_bulk_delete: int = attrs.field(default=10, validator=at_least(0))
    max_bulk_soft_taint_count: int = attrs.field(default=10, validator=at_least(0))
    non_empty_candidates_count: int = attrs.field(default=30, validator=at_least(0))
    node_delete_delay_after_taint_ms: int = attrs.field(default=5_000, validator=at_least(0))
    """Between the taint and the second look at the node's pods (CA-29)."""
    max_graceful_termination_ms: int = attrs.field(default=600_000, validator=at_least(0))
    max_pod_eviction_time_ms: int = attrs.field(default=120_000, validator=at_least(0))
    skip_nodes_with_system_pods: bool = True
    skip_nodes_with_local_storage: bool = True
    min_replica_count: int = attrs.field(default=0, validator=at_least(0))
    ignore_daemonsets_utilization: bool = False
    ignore_mirror_pods_utilization: bool = False
    daemonset_eviction_for_empty_nodes: bool = False
    daemonset_eviction_for_occupied_nodes: bool = True
    cordon_node_before_terminating: bool = False
