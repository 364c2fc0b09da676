"""Patching: applies a patch to an object, both as JSON trees, in either of the two usual ways.

`merge` (RFC 7386): mappings are merged, null removes a field, and anything else is replaced, lists
included. `strategic` is the same, except that a list in KEYS is merged item by item, and that the
directives `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder` and `$retainKeys` are obeyed.
So two clients that each patch one condition keep each other's with `strategic`, and not with
`merge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

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
        return [*here, *(each for each in change if each not in here)]
    if name in KEYS:
        return _merged_list(here, change, KEYS[name])
    return thawed(change)


def _merged_list(items: list[Any], changes: Sequence[Any], key: str) -> list[Any]:
    """A list merged by the key of its items; new items are added at its end."""
    if any(_directive(change) == "replace" for change in changes):
        return [thawed(change) for change in changes if _directive(change) != "replace"]
    for change in changes:
        if not isinstance(change, Mapping) or key not in change:
            raise ValueError(f"an item of the patch has no {key}, by which it would be merged")
        place = _place_of(items, change[key], key)
        if _directive(change) == "delete":
            items = [item for item in items if _name_of(item, key) != change[key]]
        elif place is None:
            items = [*items, _merged_by_key({}, change)]
        else:
            items = [*items[:place], _merged_by_key(items[place], change), *items[place + 1 :]]
    return items


def _obey_directives(merged: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """Obey the directives that stand beside a list, not in it."""
    for name, given in patch.items():
        if name.startswith(DELETE_FROM) and (listed := name.removeprefix(DELETE_FROM)) in merged:
            gone = _a_list(given, name)
            merged[listed] = [each for each in _a_list(merged[listed], listed) if each not in gone]
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
    places = range(len(items))
    named = sorted((n for n in places if names[n] in order), key=lambda n: order.index(names[n]))
    others = [n for n in places if names[n] not in order]
    merged: list[int] = []
    while named and others:
        is_before = names.index(names[others[0]]) < names.index(names[named[0]])
        merged.append(others.pop(0) if is_before else named.pop(0))
    return [items[n] for n in (*merged, *named, *others)]


def _name_of(item: Any, key: str) -> Any:
    return item.get(key) if key and isinstance(item, Mapping) else item


def _place_of(items: list[Any], name: Any, key: str) -> int | None:
    return next((n for n, item in enumerate(items) if _name_of(item, key) == name), None)


def _directive(change: Any) -> Any:
    return change.get(PATCH) if isinstance(change, Mapping) else None
