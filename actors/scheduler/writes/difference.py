"""Difference: the patch that makes one status of a pod another, as Kubernetes' client works it out.

Only what differs is in it (SCH-67): so, applied to an object that has changed meanwhile, it leaves
alone what it does not name, and can mix two states. Lists whose items have a key are merged by it:
an item says its key and what is new of it, one that is gone is deleted, and the order of all that
are to be there is told beside the list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from testbed.objects import Map, Pod, PodStatus
from testbed.objects.form import write_part

KEYS = {"conditions": "type", "podIPs": "ip"}
"""The lists of a status that are merged, and what their items are known by."""
Tree = Mapping[str, Any]
NOTHING: Map[Any] = Map()


def difference(old: Pod, new: PodStatus, of: Pod | None = None) -> dict[str, Any]:
    """The patch of a pod's status, empty if there is nothing to change. `of` is whose status the
    new one is, if it is another pod's: also what nobody here knows of it is copied then."""
    status = changes(_tree(old.status, old), _tree(new, old if of is None else of))
    return {"status": status} if status else {}


def changes(old: Tree, new: Tree) -> dict[str, Any]:
    """What is to be set, and, as null, what is to go."""
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
    """The items of a list that differ, those that are gone, and the order of those that are not."""
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
