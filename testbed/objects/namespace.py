"""Namespace: what names of most objects are unique within."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.meta import Object


@attrs.frozen
class NamespaceSpec:
    """Who has something to do before it may go."""

    finalizers: tuple[str, ...] = ()


@attrs.frozen
class NamespaceStatus:
    """Whether it is going."""

    phase: str = ""
    """Active or Terminating."""
    conditions: tuple[Condition, ...] = ()


@attrs.frozen
class Namespace(Object):
    """What names are unique within; it belongs to the whole cluster."""

    kind: ClassVar[str] = "Namespace"
    plural: ClassVar[str] = "namespaces"
    is_namespaced: ClassVar[bool] = False

    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()
