"""Lease: which component holds something for now, and when it last renewed that."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.code.quick import quick
from testbed.objects.meta import Object, wire


@quick
@attrs.frozen
class LeaseSpec:
    """The holder, and for how long it holds the lease."""

    holder: str = attrs.field(default="", metadata=wire("holderIdentity"))
    """Empty: it is free."""
    duration_s: int | None = attrs.field(default=None, metadata=wire("leaseDurationSeconds"))
    """How long others wait after the last renewal before they take it."""
    acquired_ms: int | None = attrs.field(default=None, metadata=wire("acquireTime", "fine time"))
    """When the holder took it."""
    renewed_ms: int | None = attrs.field(default=None, metadata=wire("renewTime", "fine time"))
    """When the holder last renewed it."""
    transitions: int | None = attrs.field(default=None, metadata=wire("leaseTransitions"))
    """How often the holder has changed."""


@quick
@attrs.frozen
class Lease(Object):
    """Held by a leader while it leads, or by a kubelet while its node lives."""

    kind: ClassVar[str] = "Lease"
    plural: ClassVar[str] = "leases"
    api_version: ClassVar[str] = "coordination.k8s.io/v1"

    spec: LeaseSpec = LeaseSpec()
    """Who holds it, and since when."""
