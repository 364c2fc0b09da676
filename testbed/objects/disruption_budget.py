"""PodDisruptionBudget: how many pods of an application must stay up, and how many may go now."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Map, Meta, Object, wire


@attrs.frozen
class PodDisruptionBudgetSpec:
    """What its owner asked for: exactly one of the two bounds (CTL-20)."""

    min_available: int | str | None = None
    """So many must be healthy: a number, or a part of them such as `50%`."""
    max_unavailable: int | str | None = None
    """So many may be missing."""
    selector: LabelSelector | None = None
    """Of which pods; to evict a pod, None and empty both mean of none (API-47)."""
    unhealthy_pod_eviction_policy: str = ""
    """IfHealthyBudget, which is what empty means, or AlwaysAllow."""


@attrs.frozen
class PodDisruptionBudgetStatus:
    """What its controller has counted."""

    disruptions_allowed: int = attrs.field(default=0, metadata=wire(always=True))
    """How many pods may be evicted now."""
    current_healthy: int = attrs.field(default=0, metadata=wire(always=True))
    desired_healthy: int = attrs.field(default=0, metadata=wire(always=True))
    expected_pods: int = attrs.field(default=0, metadata=wire(always=True))
    observed_generation: int = 0
    """The generation of its spec that this was counted for."""
    disrupted_pods: Map[int] = attrs.field(factory=Map, metadata=wire(shape="times"))
    """When the eviction of which pod was let through that is not yet seen to have gone."""
    conditions: tuple[Condition, ...] = ()


@attrs.frozen
class PodDisruptionBudget(Object):
    """How many pods of an application must stay up."""

    kind: ClassVar[str] = "PodDisruptionBudget"
    plural: ClassVar[str] = "poddisruptionbudgets"
    api_version: ClassVar[str] = "policy/v1"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    def covers(self, pod: Meta) -> bool:
        """Whether that pod is one of its own; a selector that asks for nothing means none."""
        selector = self.spec.selector
        if selector is None or selector.is_empty or pod.namespace != self.meta.namespace:
            return False
        return selector.matches(pod.labels)
