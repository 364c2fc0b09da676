"""ConfigMap: settings under one name."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Map, Object, texts, wire


@attrs.frozen
class ConfigMap(Object):
    """Settings under one name."""

    kind: ClassVar[str] = "ConfigMap"
    plural: ClassVar[str] = "configmaps"

    data: Map[str] = attrs.field(factory=Map, converter=texts)
    """The settings, by name."""
    binary_data: Map[str] = attrs.field(factory=Map, converter=texts)
    """Bytes, in base64."""
    is_immutable: bool | None = attrs.field(default=None, metadata=wire("immutable"))
    """Whether its data may not change any more."""
