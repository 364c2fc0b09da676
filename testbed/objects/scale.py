"""Scale: how many pods a workload is to have and has, apart from all else that it says."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Object, wire


@attrs.frozen
class ScaleSpec:
    """The desired state of a Scale."""

    replicas: int = 0
    """The desired number of pods."""


@attrs.frozen
class ScaleStatus:
    """What is observed of the workload."""

    replicas: int = attrs.field(default=0, metadata=wire(always=True))
    """How many pods it has."""
    selector: str = ""
    """The labels of its pods, in one line: `app=web,tier in (a,b)`."""


@attrs.frozen
class Scale(Object):
    """The body of requests that read or change the number of pods of a workload. Its Meta is that
    of the workload."""

    kind: ClassVar[str] = "Scale"
    plural: ClassVar[str] = "scales"
    api_version: ClassVar[str] = "autoscaling/v1"

    spec: ScaleSpec = attrs.field(default=ScaleSpec(), metadata=wire(always=True))
    """What is wanted."""
    status: ScaleStatus = attrs.field(default=ScaleStatus(), metadata=wire(always=True))
    """What is observed."""
