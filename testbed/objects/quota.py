"""ResourceQuota: how much the pods of a namespace may request together."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Map, Object
from testbed.objects.quantity import Quantity, amounts


@attrs.frozen
class ScopedRequirement:
    """A scope that the counted pods must meet (PRI-20)."""

    scope_name: str
    """For instance PriorityClass; its values are names of classes."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: tuple[str, ...] = ()
    """The values to compare with; none for Exists and DoesNotExist."""


@attrs.frozen
class ScopeSelector:
    """Selects the pods to count: those that meet all its requirements."""

    match_expressions: tuple[ScopedRequirement, ...] = ()
    """Its requirements."""


@attrs.frozen
class QuotaSpec:
    """The desired limits."""

    hard: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """The limits, by `requests.cpu`, `limits.memory`, `pods`, `count/pods` and the like."""
    scopes: tuple[str, ...] = ()
    """Which pods count: Terminating, NotTerminating, BestEffort, NotBestEffort and the like."""
    scope_selector: ScopeSelector | None = None
    """Which pods count, by scopes that compare values."""


@attrs.frozen
class QuotaStatus:
    """What is used already."""

    hard: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """The limits, as last counted by."""
    used: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """How much is used, by the names of `hard`."""


@attrs.frozen
class ResourceQuota(Object):
    """Limits what the pods of a namespace may request together."""

    kind: ClassVar[str] = "ResourceQuota"
    plural: ClassVar[str] = "resourcequotas"

    spec: QuotaSpec = QuotaSpec()
    """The limits."""
    status: QuotaStatus = QuotaStatus()
    """What is observed of it."""
