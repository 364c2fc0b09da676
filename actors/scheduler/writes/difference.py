"""Difference: the patch from one status of a pod to another, as Kubernetes' client computes it.

It is a strategic merge patch that holds only what differs (SCH-67). So a patch that is applied to
an object that has changed meanwhile leaves all other fields alone, and can mix two states. Lists
with a merge key are merged by it: an item carries its key and its changes, an item that is gone
carries a delete directive, and the order of all items is sent beside the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from testbed.objects import Map, Pod, PodStatus
from testbed.objects.form import Field, fields_of, write_part

KEYS = {"conditions": "type", "podIPs": "ip"}
"""The lists of a status that are merged, each with its merge key."""
Tree = Mapping[str, Any]
NOTHING: Map[Any] = Map()
FIELDS = fields_of(PodStatus)
ALL: Callable[[PodStatus], tuple[Any, ...]] = attrgetter(*[field.name for field in FIELDS])


def difference(old: Pod, new: PodStatus, of: Pod | None = None) -> dict[str, Any]:
    """The patch from the status of `old` to `new`; empty if they are equal.

    `of` is the pod that `new` was made from, if it is not `old`: then status fields that the
    testbed does not model are copied from it, too.
    """
    was, source = old.status, old if of is None else of
    rest, new_rest = old.extra.get("status", NOTHING), source.extra.get("status", NOTHING)
    if rest or new_rest:
        status = changes(write_part(was, rest), write_part(new, new_rest))
    else:
        status = _modelled(was, new)
    return {"status": status} if status else {}


def _modelled(old: PodStatus, new: PodStatus) -> dict[str, Any]:
    """The same changes, of statuses in which every field is modelled."""
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for field, one, other in zip(FIELDS, ALL(old), ALL(new), strict=True):
        # What is the same object in both is written alike, so it need not be written at all.
        if one is not other:
            _write(before, field, one)
            _write(after, field, other)
    return changes(before, after)


def _write(tree: dict[str, Any], field: Field, value: Any) -> None:
    if not field.is_unset(value):
        tree[field.wire_name] = field.shape.write(value, None)


def changes(old: Tree, new: Tree) -> dict[str, Any]:
    """The fields to set, and, as null, the fields to remove."""
    patch: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        was = old.get(name)
        if was is None:
            patch[name] = value
        elif was == value:
            continue
        elif name in KEYS:
            patch |= _merged(name, was, value)
        elif isinstance(value, Mapping) and isinstance(was, Mapping):
            patch[name] = changes(was, value)
        else:
            patch[name] = value
    return patch


def _merged(name: str, old: Sequence[Tree], new: Sequence[Tree]) -> dict[str, Any]:
    """The patch of a merged list: the items that differ, the deletions, and the new order."""
    key = KEYS[name]
    before = {item[key]: item for item in old}
    items: list[Tree] = []
    for item in new:
        was = before.pop(item[key], None)
        if was is None:
            items.append(item)
        elif was != item:
            items.append({**changes(was, item), key: item[key]})
    items += [{"$patch": "delete", key: gone} for gone in sorted(before)]
    return {name: items, f"$setElementOrder/{name}": [{key: item[key]} for item in new]}
