"""Patching: applies a patch to an object, both as JSON trees, in either of the two usual ways.

`merge` (RFC 7386): mappings are merged, null removes a field, and anything else is replaced, lists
included. `strategic` is the same, except that a list in KEYS is merged item by item, and that the
directives `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder` and `$retainKeys` are obeyed.
So two clients that each patch one condition keep each other's with `strategic`, and not with
`merge`.

However long the lists are, an item is found by its name at once: a body of 3 MB has more than a
hundred thousand of them, and to look through all for each would take hours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from testbed.objects.codec import encode
from testbed.objects.plain import thawed

T = TypeVar("T")
Tree = Any
KEYS = {
    "addresses": "type", "conditions": "type", "containers": "name", "env": "name",
    "ephemeralContainers": "name", "hostAliases": "ip", "imagePullSecrets": "name",
    "initContainers": "name", "ownerReferences": "uid", "podIPs": "ip", "ports": "containerPort",
    "resourceClaims": "name", "schedulingGates": "name", "secrets": "name",
    "topologySpreadConstraints": "topologyKey", "volumeDevices": "devicePath",
    "volumeMounts": "mountPath", "volumes": "name",
}  # fmt: skip
"""Lists that a strategic patch merges, and the field that identifies an item (`patchMergeKey`).
All other lists are replaced."""
SETS = ("finalizers",)
"""Lists of strings that a strategic patch merges."""
PATCH, RETAIN = "$patch", "$retainKeys"
DELETE_FROM, ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"
_GONE: Any = object()
"""Stands in the place of an item that was deleted."""


def mark_of(value: Any) -> Any:
    """What stands for a value in a dict; equal values have equal ones."""
    return value if isinstance(value, str | int | float | None) else encode(value)


class MergedList:
    """A list while a patch is merged into it, of which items are found by their name."""

    def __init__(self, items: Sequence[Any], names: Sequence[Any]) -> None:
        self._items = list(items)
        self._places: dict[Any, list[int]] = {}
        for place, name in enumerate(names):
            self._places.setdefault(mark_of(name), []).append(place)

    @property
    def items(self) -> list[Any]:
        """The items that there are now, in order."""
        return [each for each in self._items if each is not _GONE]

    def get(self, name: Any) -> Any:
        """The first item of that name; None if there is none."""
        places = self._places.get(mark_of(name))
        return self._items[places[0]] if places else None

    def put(self, name: Any, item: Any) -> None:
        """Replace the first item of that name, or add one at the end."""
        places = self._places.setdefault(mark_of(name), [])
        if places:
            self._items[places[0]] = item
        else:
            places.append(len(self._items))
            self._items.append(item)

    def drop(self, name: Any) -> None:
        """Delete all items of that name."""
        for place in self._places.pop(mark_of(name), ()):
            self._items[place] = _GONE


def patched(tree: Tree, patch: Tree, how: str) -> Tree:
    """The tree after the patch; ValueError if the patch makes no sense."""
    if not isinstance(patch, Mapping):
        raise ValueError("a patch is a mapping, such as {'metadata': {'labels': {'a': 'b'}}}")
    if how == "merge":
        return _merged(tree, patch)
    if how == "strategic":
        return _merged_by_key(tree, patch)
    raise ValueError(
        f"there is no patch of the kind {how!r}: one is merge, strategic, json or apply"
    )


def field_patched(value: Tree, change: Tree, name: str, how: str) -> Tree:
    """The value of the field `name` after a patch says this of it, which is not null."""
    return _merged(value, change) if how == "merge" else _changed(value, change, name)


def _merged(tree: Tree, patch: Tree) -> Tree:
    if not isinstance(patch, Mapping):
        return thawed(patch)
    merged = dict(tree) if isinstance(tree, Mapping) else {}
    for name, change in patch.items():
        if change is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), change)
    return merged


def _merged_by_key(tree: Tree, patch: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping after a strategic patch."""
    directive = patch.get(PATCH)
    if directive not in (None, "replace", "delete", "merge"):
        raise ValueError(f"there is no $patch: {directive}")
    if directive == "delete":
        return {}
    if directive == "replace":
        return {name: thawed(value) for name, value in patch.items() if name != PATCH}
    merged = dict(tree) if isinstance(tree, Mapping) else {}
    if RETAIN in patch:
        given = [name for name in patch if not name.startswith("$") and patch[name] is not None]
        retained = _a_list(patch[RETAIN], RETAIN)
        if not all(name in retained for name in given):
            raise ValueError("$retainKeys does not name each field that the patch sets")
        merged = {name: value for name, value in merged.items() if name in retained}
    for name, change in patch.items():
        if name.startswith("$"):
            continue
        if change is None:
            merged.pop(name, None)
        else:
            merged[name] = _changed(merged.get(name), change, name)
    _obey_directives(merged, patch)
    return merged


def _changed(value: Tree, change: Tree, name: str) -> Tree:
    """The value of the field `name` after a strategic patch."""
    if isinstance(change, Mapping):
        return _merged_by_key(value, change)
    if not isinstance(change, Sequence) or isinstance(change, str):
        return change
    here = list(value) if isinstance(value, Sequence) else []
    if name in SETS:
        there = {mark_of(each) for each in here}
        return [*here, *(each for each in change if mark_of(each) not in there)]
    if name in KEYS:
        return _merged_list(here, change, KEYS[name])
    return thawed(change)


def _merged_list(items: list[Any], changes: Sequence[Any], key: str) -> list[Any]:
    """A list merged by the key of its items; new items are added at its end."""
    if any(_directive(change) == "replace" for change in changes):
        return [thawed(change) for change in changes if _directive(change) != "replace"]
    merged = MergedList(items, [_name_of(item, key) for item in items])
    for change in changes:
        if not isinstance(change, Mapping) or key not in change:
            raise ValueError(f"an item of the patch has no {key}, by which it would be merged")
        if _directive(change) == "delete":
            merged.drop(change[key])
        else:
            merged.put(change[key], _merged_by_key(merged.get(change[key]), change))
    return merged.items


def _obey_directives(merged: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """Obey the directives that stand beside a list, not in it."""
    for name, given in patch.items():
        if name.startswith(DELETE_FROM) and (listed := name.removeprefix(DELETE_FROM)) in merged:
            gone = {mark_of(each) for each in _a_list(given, name)}
            kept = [each for each in _a_list(merged[listed], listed) if mark_of(each) not in gone]
            merged[listed] = kept
    for name, given in patch.items():
        if name.startswith(ORDER) and (listed := name.removeprefix(ORDER)) in merged:
            items, order = _a_list(merged[listed], listed), _a_list(given, name)
            merged[listed] = _ordered(items, order, KEYS.get(listed, ""))


def _a_list(value: Tree, name: str) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"{name}: expected a list")
    return list(value)


def _ordered(items: list[Any], given: Sequence[Any], key: str) -> list[Any]:
    return in_order(items, [_name_of(item, key) for item in items], order_of(given, key))


def order_of(given: Sequence[Any], key: str) -> list[Any]:
    """The names that `$setElementOrder` has, in the order given."""
    return [each.get(key) if key and isinstance(each, Mapping) else each for each in given]


def in_order(items: Sequence[T], names: Sequence[Any], order: Sequence[Any]) -> list[T]:
    """The items of these names that `order` has, in that order; each other item stays before the
    first named one that it stood before."""
    marks = [mark_of(name) for name in names]
    first, rank = _first_places(marks), _first_places([mark_of(name) for name in order])
    named = deque(
        sorted((n for n, m in enumerate(marks) if m in rank), key=lambda n: rank[marks[n]])
    )
    others = deque(n for n, mark in enumerate(marks) if mark not in rank)
    merged: list[int] = []
    while named and others:
        is_before = first[marks[others[0]]] < first[marks[named[0]]]
        merged.append(others.popleft() if is_before else named.popleft())
    return [items[n] for n in (*merged, *named, *others)]


def _first_places(marks: Sequence[Any]) -> dict[Any, int]:
    """By mark, where it stands first."""
    return {mark: place for place, mark in reversed([*enumerate(marks)])}


def _name_of(item: Any, key: str) -> Any:
    return item.get(key) if key and isinstance(item, Mapping) else item


def _directive(change: Any) -> Any:
    return change.get(PATCH) if isinstance(change, Mapping) else None
