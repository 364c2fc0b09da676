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

import attrs

from testbed.objects import Map, Pod, PodStatus
from testbed.objects.form import write_part
from testbed.objects.meta import evolved

KEYS = {"conditions": "type", "podIPs": "ip"}
"""The lists of a status that are merged, each with its merge key."""
Tree = Mapping[str, Any]
NOTHING: Map[Any] = Map()
BLANK = PodStatus()
FIELDS = tuple(field.name for field in attrs.fields(PodStatus))
ALL: Callable[[PodStatus], tuple[Any, ...]] = attrgetter(*FIELDS)


def difference(old: Pod, new: PodStatus, of: Pod | None = None) -> dict[str, Any]:
    """The patch from the status of `old` to `new`; empty if they are equal.

    `of` is the pod that `new` was made from, if it is not `old`: then status fields that the
    testbed does not model are copied from it, too.
    """
    was, source = old.status, old if of is None else of
    if old.extra.get("status") is source.extra.get("status"):
        # What is the same object in both is written alike, so it need not be written at all.
        names = [
            name for name, one, other in zip(FIELDS, ALL(was), ALL(new), strict=True)
            if one is not other
        ]  # fmt: skip
        if not names:
            return {}
        was, new = _only(names, was), _only(names, new)
    status = changes(_tree(was, old), _tree(new, source))
    return {"status": status} if status else {}


def _only(names: Sequence[str], status: PodStatus) -> PodStatus:
    """The status with only those fields set."""
    return evolved(BLANK, **{name: getattr(status, name) for name in names})


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
