"""ResourceQuota: how much the pods of a namespace may ask for together."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Map, Object
from testbed.objects.quantity import Quantity, amounts


@attrs.frozen
class ScopedRequirement:
    """What the pods it counts must be, by one scope (PRI-20)."""

    scope_name: str
    """Such as PriorityClass, of which the values are names."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: tuple[str, ...] = ()


@attrs.frozen
class ScopeSelector:
    """Which pods it counts: those that meet all of it."""

    match_expressions: tuple[ScopedRequirement, ...] = ()


@attrs.frozen
class QuotaSpec:
    """What its operator wants."""

    hard: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """At most so much, by `requests.cpu`, `limits.memory`, `pods`, `count/pods` and the like."""
    scopes: tuple[str, ...] = ()
    """Terminating, NotTerminating, BestEffort, NotBestEffort and the like."""
    scope_selector: ScopeSelector | None = None


@attrs.frozen
class QuotaStatus:
    """What is asked for already."""

    hard: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    used: Map[Quantity] = attrs.field(factory=Map, converter=amounts)


@attrs.frozen
class ResourceQuota(Object):
    """How much the pods of a namespace may ask for together."""

    kind: ClassVar[str] = "ResourceQuota"
    plural: ClassVar[str] = "resourcequotas"

    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()
