"""PriorityClass: a named priority for pods (PRI-1)."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Object, wire

PREEMPT, NEVER = "PreemptLowerPriority", "Never"


@attrs.frozen
class PriorityClass(Object):
    """A named priority for pods; cluster-scoped."""

    kind: ClassVar[str] = "PriorityClass"
    plural: ClassVar[str] = "priorityclasses"
    is_namespaced: ClassVar[bool] = False
    api_version: ClassVar[str] = "scheduling.k8s.io/v1"

    value: int = attrs.field(default=0, metadata=wire(always=True))
    """The larger the more important."""
    global_default: bool = False
    """Whether it is the class of pods that name none."""
    description: str = ""
    """For people."""
    preemption_policy: str = ""
    """PreemptLowerPriority (also if empty) or Never."""
