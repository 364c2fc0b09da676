"""Lease: who holds something for now, and when he last said so."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Object, wire


@attrs.frozen
class LeaseSpec:
    """Who holds it, and for how long."""

    holder: str = attrs.field(default="", metadata=wire("holderIdentity"))
    """Empty: nobody."""
    duration_s: int | None = attrs.field(default=None, metadata=wire("leaseDurationSeconds"))
    """How long others wait, after it was last renewed, before they take it."""
    acquired_ms: int | None = attrs.field(default=None, metadata=wire("acquireTime", "fine time"))
    renewed_ms: int | None = attrs.field(default=None, metadata=wire("renewTime", "fine time"))
    transitions: int | None = attrs.field(default=None, metadata=wire("leaseTransitions"))
    """How often it went from one holder to another."""


@attrs.frozen
class Lease(Object):
    """Who holds something for now: a leader his office, a kubelet its node."""

    kind: ClassVar[str] = "Lease"
    plural: ClassVar[str] = "leases"
    api_version: ClassVar[str] = "coordination.k8s.io/v1"

    spec: LeaseSpec = LeaseSpec()
