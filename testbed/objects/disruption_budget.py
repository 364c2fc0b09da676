"""PodDisruptionBudget: how many pods of an application must stay up; how many may be evicted."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector, meta_of
from testbed.objects.meta import Map, Meta, Object, wire


@attrs.frozen
class PodDisruptionBudgetSpec:
    """The desired state: exactly one of the two bounds (CTL-20)."""

    min_available: int | str | None = None
    """How many pods must be healthy: a number, or a share such as `50%`."""
    max_unavailable: int | str | None = None
    """How many pods may be unavailable: a number or a share."""
    selector: LabelSelector | None = None
    """Which pods it covers. When a pod is evicted, None and empty both mean none (API-47)."""
    unhealthy_pod_eviction_policy: str = ""
    """IfHealthyBudget (also if empty) or AlwaysAllow."""


@attrs.frozen
class PodDisruptionBudgetStatus:
    """The counts of its controller."""

    disruptions_allowed: int = attrs.field(default=0, metadata=wire(always=True))
    """How many pods may be evicted now."""
    current_healthy: int = attrs.field(default=0, metadata=wire(always=True))
    """How many of its pods are healthy."""
    desired_healthy: int = attrs.field(default=0, metadata=wire(always=True))
    """How many must be healthy at least."""
    expected_pods: int = attrs.field(default=0, metadata=wire(always=True))
    """How many pods it covers, by their controllers."""
    observed_generation: int = 0
    """The generation of the spec that these counts are for."""
    disrupted_pods: Map[int] = attrs.field(factory=Map, metadata=wire(shape="times"))
    """By pod, the time of an eviction that was allowed while its deletion has not been observed."""
    conditions: tuple[Condition, ...] = ()
    """DisruptionAllowed."""


@attrs.frozen
class PodDisruptionBudget(Object):
    """How many pods of an application must stay up."""

    kind: ClassVar[str] = "PodDisruptionBudget"
    plural: ClassVar[str] = "poddisruptionbudgets"
    api_version: ClassVar[str] = "policy/v1"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    """What is wanted of it."""
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
    """What its controller has counted."""

    def covers(self, pod: Object | Meta) -> bool:
        """Whether it covers that pod, of which the metadata is enough. An empty selector covers no
        pod."""
        meta, selector = meta_of(pod), self.spec.selector
        if selector is None or selector.is_empty or meta.namespace != self.meta.namespace:
            return False
        return selector.matches(meta.labels)
