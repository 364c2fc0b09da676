"""Reference: how one object names another."""

from __future__ import annotations

import attrs

from testbed.code.quick import quick
from testbed.objects.meta import UNSET, Object, Revision, wire


@quick
@attrs.frozen
class Reference:
    """Names an object, as far as its author knows the fields."""

    api_version: str = ""
    """The API group and version of its kind."""
    kind: str = ""
    """Its kind: `Pod`."""
    name: str = ""
    """Its name."""
    namespace: str = ""
    """Its namespace; empty for cluster-scoped kinds."""
    uid: str = ""
    """Its uid; empty: any."""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))
    """The revision that was seen."""
    field_path: str = ""
    """A part of the object: `spec.containers{main}`."""


def reference_to(item: Object) -> Reference:
    """The full Reference to an object as it is now, with its revision."""
    meta = item.meta
    return Reference(
        item.api_version, item.kind, meta.name, meta.namespace, meta.uid, meta.revision
    )
