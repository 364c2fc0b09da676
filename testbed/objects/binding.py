"""Binding, Eviction, DeleteOptions: what is sent to have a pod bound, evicted or deleted."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import UNSET, Object, Revision, wire


@attrs.frozen
class Target:
    """What a Binding binds to: a node."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    kind_name: str = attrs.field(default="Node", metadata=wire("kind", always=True))
    api_version: str = ""


@attrs.frozen
class Binding(Object):
    """That a pod is to run on a node; its Meta is the pod's, with the uid if that matters."""

    kind: ClassVar[str] = "Binding"
    plural: ClassVar[str] = "bindings"

    target: Target = attrs.field(default=Target(), metadata=wire(always=True))


@attrs.frozen
class Preconditions:
    """What must be so of an object for it to be deleted; what is empty is not asked."""

    uid: str = ""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))


@attrs.frozen
class DeleteOptions:
    """How an object is to be deleted (API-23)."""

    grace_s: int | None = attrs.field(default=None, metadata=wire("gracePeriodSeconds"))
    """How long it may take to end; None: what it says itself."""
    preconditions: Preconditions = Preconditions()
    propagation_policy: str = ""
    """What becomes of what it owns: Background, Foreground or Orphan; empty: as is usual."""
    dry_run: tuple[str, ...] = ()
    """`All`: look whether it could be, and leave it."""


@attrs.frozen
class Eviction(Object):
    """That a pod is to go if its disruption budget allows (API-33); its Meta is the pod's."""

    kind: ClassVar[str] = "Eviction"
    plural: ClassVar[str] = "evictions"
    api_version: ClassVar[str] = "policy/v1"

    delete_options: DeleteOptions | None = None
