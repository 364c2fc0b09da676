"""Namespace: the scope within which names of most objects are unique."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.meta import Object


@attrs.frozen
class NamespaceSpec:
    """What has to be done before it is removed."""

    finalizers: tuple[str, ...] = ()
    """What has to be done first: `kubernetes`."""


@attrs.frozen
class NamespaceStatus:
    """Whether it is terminating."""

    phase: str = ""
    """Active or Terminating."""
    conditions: tuple[Condition, ...] = ()
    """What keeps it from being removed."""


@attrs.frozen
class Namespace(Object):
    """A scope for names; itself cluster-scoped."""

    kind: ClassVar[str] = "Namespace"
    plural: ClassVar[str] = "namespaces"
    is_namespaced: ClassVar[bool] = False

    spec: NamespaceSpec = NamespaceSpec()
    """What is wanted of it."""
    status: NamespaceStatus = NamespaceStatus()
    """What is observed of it."""
