"""Binding, Eviction, DeleteOptions: bodies of the requests that bind, evict or delete a pod."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import UNSET, Object, Revision, wire


@attrs.frozen
class Target:
    """The node that a Binding names."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    """The name of the node."""
    kind_name: str = attrs.field(default="Node", metadata=wire("kind", always=True))
    """The kind of what it names: Node."""
    api_version: str = ""
    """Its API group and version; empty: v1."""


@attrs.frozen
class Binding(Object):
    """Binds a pod to a node. Its Meta names the pod, and the uid too if that must match."""

    kind: ClassVar[str] = "Binding"
    plural: ClassVar[str] = "bindings"

    target: Target = attrs.field(default=Target(), metadata=wire(always=True))
    """The node that the pod is bound to."""


@attrs.frozen
class Preconditions:
    """What must hold of an object for its deletion; empty fields do not count."""

    uid: str = ""
    """The object has this uid; empty: any."""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))
    """The object is still at this revision; unset: any."""


@attrs.frozen
class DeleteOptions:
    """How to delete an object (API-23)."""

    grace_s: int | None = attrs.field(default=None, metadata=wire("gracePeriodSeconds"))
    """How long it may take to terminate; None: the object's own grace period."""
    preconditions: Preconditions = Preconditions()
    """What must be so, or the request is refused with a Conflict."""
    propagation_policy: str = ""
    """What happens to its dependents: Background, Foreground or Orphan; empty: the default."""
    dry_run: tuple[str, ...] = ()
    """`All`: only check whether it could be deleted."""


@attrs.frozen
class Eviction(Object):
    """Evicts a pod if its disruption budget allows that (API-33). Its Meta names the pod."""

    kind: ClassVar[str] = "Eviction"
    plural: ClassVar[str] = "evictions"
    api_version: ClassVar[str] = "policy/v1"

    delete_options: DeleteOptions | None = None
    """How the pod is deleted if it may be evicted."""
