"""Binding, Eviction, DeleteOptions: bodies of the requests that bind, evict or delete a pod."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import UNSET, Object, Revision, wire


@attrs.frozen
class Target:
    """The node that a Binding names."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    kind_name: str = attrs.field(default="Node", metadata=wire("kind", always=True))
    api_version: str = ""


@attrs.frozen
class Binding(Object):
    """Binds a pod to a node. Its Meta names the pod, and the uid too if that must match."""

    kind: ClassVar[str] = "Binding"
    plural: ClassVar[str] = "bindings"

    target: Target = attrs.field(default=Target(), metadata=wire(always=True))


@attrs.frozen
class Preconditions:
    """What must hold of an object for its deletion; empty fields do not count."""

    uid: str = ""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))


@attrs.frozen
class DeleteOptions:
    """How to delete an object (API-23)."""

    grace_s: int | None = attrs.field(default=None, metadata=wire("gracePeriodSeconds"))
    """How long it may take to terminate; None: the object's own grace period."""
    preconditions: Preconditions = Preconditions()
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
