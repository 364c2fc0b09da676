"""PriorityClass: a name for how important pods are (PRI-1)."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Object, wire

PREEMPT, NEVER = "PreemptLowerPriority", "Never"


@attrs.frozen
class PriorityClass(Object):
    """A name for how important pods are; it belongs to the whole cluster."""

    kind: ClassVar[str] = "PriorityClass"
    plural: ClassVar[str] = "priorityclasses"
    is_namespaced: ClassVar[bool] = False
    api_version: ClassVar[str] = "scheduling.k8s.io/v1"

    value: int = attrs.field(default=0, metadata=wire(always=True))
    """The larger the more important."""
    global_default: bool = False
    """Whether it is that of pods which name none."""
    description: str = ""
    preemption_policy: str = ""
    """PreemptLowerPriority, which is what empty means, or Never."""
