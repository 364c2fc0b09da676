"""DeschedulerPolicy: which strategies run, and which pods none of them may evict."""

from __future__ import annotations

import attrs

from actors.shared.critical import CRITICAL_FROM
from testbed.objects import Map

DUPLICATES, LOW_UTILIZATION = "RemoveDuplicates", "LowNodeUtilization"
RESTARTS, VIOLATIONS = "RemovePodsHavingTooManyRestarts", "RemovePodsViolating"


@attrs.frozen
class DeschedulerPolicy:
    """The settings; the defaults are those of the descheduler, but that it has no default
    strategies and no default thresholds."""

    strategies: tuple[str, ...] = (VIOLATIONS, RESTARTS, DUPLICATES, LOW_UTILIZATION)
    """Those that run, in this order."""
    node_fit: bool = False
    """Whether a pod is evicted only if another node would take it (`nodeFit`)."""
    threshold_priority: int = CRITICAL_FROM
    """Pods of this priority or more are never evicted, nor are system-critical ones."""
    restarts_min: int = 100
    """From this number of restarts on a pod is evicted."""
    low_pct: Map[int] = attrs.field(factory=lambda: Map(cpu=20, memory=20, pods=20))
    """By resource, the share of its room up to which a node is underutilised."""
    target_pct: Map[int] = attrs.field(factory=lambda: Map(cpu=50, memory=50, pods=50))
    """By resource, the share of its room above which a node is overutilised."""
    max_per_node: int | None = None
    """How many pods of one node are evicted in a pass, at most."""
    max_total: int | None = None
    """How many are evicted in a pass, at most."""
