"""Precondition: the revisions that a write names, wherever they stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from testbed.objects.binding import Eviction
from testbed.objects.meta import Object, Revision
from testbed.store.endpoint import Operation

AROUND_REVISION = ("", "/metadata", "/metadata/resourceVersion")
"""Paths at which a step of a JSON patch sees the revision of the object, or changes it."""


def preconditions(operation: Operation) -> Iterator[Revision]:
    """The revisions that a write names as preconditions, wherever they stand in it."""
    yield operation.revision
    body = operation.body
    for item in body if isinstance(body, tuple) else (body,):
        if isinstance(item, Object):
            yield item.meta.revision
        if isinstance(item, Eviction) and item.delete_options is not None:
            yield item.delete_options.preconditions.revision
        if isinstance(item, Mapping):
            named = named_revision(item)
            if named is not None:
                yield named


def named_revision(patch: Mapping[str, Any]) -> Revision | None:
    """The revision at `metadata.resourceVersion` of a patch, or of a step of a JSON patch; None if
    it names none."""
    if isinstance(patch.get("op"), str):
        is_there = any(patch.get(name) in AROUND_REVISION for name in ("path", "from"))
        return Revision(str(patch.get("value", "0"))) if is_there else None
    meta = patch.get("metadata")
    if meta is None:
        return None
    named = meta.get("resourceVersion") if isinstance(meta, Mapping) else None
    if isinstance(named, Revision):
        return named
    return Revision(named) if isinstance(named, str) and named else None
