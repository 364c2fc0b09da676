"""Pod: what is to run, where it was bound, and how it fares."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Object


@attrs.frozen
class PodSpec:
    """What its owner asked for, and the node a scheduler bound it to."""

    node_name: str = ""
    """Empty until bound."""
    scheduler_name: str = "default-scheduler"
    cpu_m: int = 0
    """The cpu it asks for, in thousandths."""


@attrs.frozen
class PodStatus:
    """What its kubelet says of it."""

    phase: str = "Pending"
    """Pending, Running, Succeeded or Failed."""


@attrs.frozen
class Pod(Object):
    """What is to run, and where."""

    kind: ClassVar[str] = "Pod"
    plural: ClassVar[str] = "pods"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
