"""Difference: the patch from one status of a pod to another, as Kubernetes' client computes it.

It is a strategic merge patch that holds only what differs (SCH-67). So a patch that is applied to
an object that has changed meanwhile leaves all other fields alone, and can mix two states. Lists
with a merge key are merged by it: an item carries its key and its changes, an item that is gone
carries a delete directive, and the order of all items is sent beside the list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from testbed.objects import Map, Pod, PodStatus
from testbed.objects.form import write_part

KEYS = {"conditions": "type", "podIPs": "ip"}
"""The lists of a status that are merged, each with its merge key."""
Tree = Mapping[str, Any]
NOTHING: Map[Any] = Map()


def difference(old: Pod, new: PodStatus, of: Pod | None = None) -> dict[str, Any]:
    """The patch from the status of `old` to `new`; empty if they are equal.

    `of` is the pod that `new` was made from, if it is not `old`: then status fields that the
    testbed does not model are copied from it, too.
    """
    status = changes(_tree(old.status, old), _tree(new, old if of is None else of))
    return {"status": status} if status else {}


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


def _tree(status: PodStatus, pod: Pod) -> Tree:
    return write_part(status, pod.extra.get("status", NOTHING))
