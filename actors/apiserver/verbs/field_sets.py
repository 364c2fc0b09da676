"""Field sets: the fields of an object as paths, and as `managedFields` writes a set of them.

A path is a tuple of steps, each spelled as `fieldsV1` has it: `f:spec` for a field,
`k:{"name":"c"}` for an item of a list that is merged by key, `v:"x"` for an item of a list that is
a set. Anything else is owned as a whole: a plain value, any other list, and what ATOMIC names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from actors.apiserver.verbs.patching import KEYS, SETS
from testbed.objects.codec import decode, encode
from testbed.objects.meta import Map
from testbed.objects.plain import thawed

Tree = Any
Path = tuple[str, ...]
FIELD, KEY, VALUE, ITSELF = "f:", "k:", "v:", "."
KEYS_OF: Mapping[str, tuple[str, ...]] = {
    **{name: (key,) for name, key in KEYS.items()},
    "ports": ("containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
"""Lists that are merged, and the fields that identify an item. It takes one more field than a
strategic patch does where that one would take two items for the same."""
SAID_OTHERWISE = {"protocol": "TCP"}
"""What identifies an item that does not say it."""
ATOMIC = (
    "claimRef", "configMapKeyRef", "fieldRef", "involvedObject", "labelSelector",
    "namespaceSelector", "nodeSelector", "related",
    "requiredDuringSchedulingIgnoredDuringExecution", "resourceFieldRef", "scopeSelector",
    "secretKeyRef", "selector",
)  # fmt: skip
"""Mappings that are owned, and replaced, as a whole."""


def values_of(tree: Tree) -> dict[Path, Any]:
    """By path, what stands in an object at each place that can be owned."""
    return {path: value for path, value in _leaves(tree, (), "") if path}


def _leaves(tree: Tree, path: Path, name: str) -> Iterator[tuple[Path, Any]]:
    if isinstance(tree, Mapping) and tree and name not in ATOMIC:
        for each, value in tree.items():
            if value is not None:
                yield from _leaves(value, (*path, f"{FIELD}{each}"), each)
    elif (steps := _steps(tree, name)) is not None:
        for step, item in zip(steps, tree, strict=True):
            yield (*path, step), ITSELF
            if isinstance(item, Mapping):
                yield from _leaves(item, (*path, step), "")
    else:
        yield path, thawed(tree)


def _steps(tree: Tree, name: str) -> list[str] | None:
    """A step for each item of a list that is merged; None if it is no such list."""
    if not isinstance(tree, list | tuple):
        return None
    if name in SETS:
        steps = [_said(VALUE, item) for item in tree]
    elif name in KEYS_OF and all(isinstance(item, Mapping) for item in tree):
        keys = KEYS_OF[name]
        named = [{key: item.get(key, SAID_OTHERWISE.get(key)) for key in keys} for item in tree]
        if any(None in each.values() for each in named):
            return None
        steps = [_said(KEY, each) for each in named]
    else:
        return None
    return steps if len({*steps}) == len(steps) else None


def _said(mark: str, value: Any) -> str:
    return f"{mark}{encode(value).decode()}"


# -- trees ----------------------------------------------------------------------------------------


def laid_over(tree: Tree, given: Tree, name: str = "") -> Tree:
    """The tree with what is given laid over it: all that it says, and nothing else, is changed. To
    list no items where lists are merged is to say nothing."""
    if isinstance(given, Mapping) and isinstance(tree, Mapping | None) and name not in ATOMIC:
        laid = dict(tree or {})
        for each, value in given.items():
            if value is not None and _steps(value, each) != []:
                laid[each] = laid_over(laid.get(each), value, each)
        return laid
    here, there = _steps(() if tree is None else tree, name), _steps(given, name)
    if here is None or there is None:
        return thawed(given)
    items = dict(zip(here, tree or (), strict=True))
    for step, item in zip(there, given, strict=True):
        items[step] = laid_over(items.get(step), item)
    return list(items.values())


def without(tree: Tree, path: Path, name: str = "") -> Tree:
    """The tree without what is at that path, nor a mapping that has nothing left."""
    step, below = path[0], path[1:]
    if isinstance(tree, Mapping):
        field = step.removeprefix(FIELD)
        if field not in tree:
            return tree
        left = without(tree[field], below, field) if below else None
        return {
            each: left if each == field else value
            for each, value in tree.items()
            if each != field or left
        }
    steps = _steps(tree, name)
    if steps is None:
        return tree
    return [
        without(item, below) if each == step else item
        for each, item in zip(steps, tree, strict=True)
        if each != step or below
    ]


# -- on the wire ----------------------------------------------------------------------------------


def fields_v1(paths: Iterable[Path]) -> Map[Any]:
    """A set of paths as `fieldsV1` writes it."""
    tree: dict[str, Any] = {}
    members = []
    for path in sorted(paths):
        here = tree
        for step in path:
            here = here.setdefault(step, {})
        members.append(here)
    for member in members:
        if member:
            member[ITSELF] = {}
    return _frozen(tree)


def _frozen(tree: dict[str, Any]) -> Map[Any]:
    return Map({step: _frozen(tree[step]) for step in sorted(tree)})


def paths_of(fields: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of a set that `fieldsV1` has written."""
    if not isinstance(fields, Mapping):
        return
    for step, below in fields.items():
        if step == ITSELF:
            yield path
        elif below:
            yield from paths_of(below, (*path, step))
        else:
            yield (*path, step)


def shown(path: Path) -> str:
    """A path as messages name it: `.spec.containers[name="c"].image`."""
    return "".join(_shown_step(step) for step in path)


def _shown_step(step: str) -> str:
    mark, said = step[:2], step[2:]
    if mark == FIELD:
        return f".{said}"
    if mark == VALUE:
        return f"[={said}]"
    keys = decode(said.encode())
    return f"[{','.join(_said(f'{key}=', keys[key]) for key in sorted(keys))}]"
