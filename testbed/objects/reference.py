"""Reference: another object, as one object names it."""

from __future__ import annotations

import attrs

from testbed.objects.meta import UNSET, Object, Revision, wire


@attrs.frozen
class Reference:
    """Which object is meant; as much of that as whoever names it knows."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))
    field_path: str = ""
    """Which part of it: `spec.containers{main}`."""


def reference_to(item: Object) -> Reference:
    """All that names an object as it is now, its revision included."""
    meta = item.meta
    return Reference(
        item.api_version, item.kind, meta.name, meta.namespace, meta.uid, meta.revision
    )
