"""JSON patching: applies a JSON patch (RFC 6902), a list of steps, to an object as a JSON tree.

`add`, `remove`, `replace`, `move`, `copy` and `test`, one after another; if one of them cannot be
done, none is. So a `test` of what was read before guards what the other steps write.

A short patch can make much: each `copy` of the whole into a part of it doubles the object. So three
things are bounded, as in Kubernetes: how many steps there are, how much all copies together add,
and how large the object becomes. What a step takes then depends on the length of the patch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.errors import InternalError, Invalid, TooLarge
from testbed.objects.codec import encode
from testbed.objects.plain import thawed

Tree = Any
REFUSED = "the server rejected our request due to an error in our request"
"""All that Kubernetes says of a step that cannot be done."""
APPEND = "-"
"""As the last part of a path: behind the last item of a list."""
STEPS_MAX, COPIED_MAX, OBJECT_MAX = 10_000, 3 * 1024 * 1024, 3 * 512 * 1024
"""How many steps; how many bytes of JSON are copied, and how many the object has in the end."""
OBJECT_TOO_LARGE = "etcdserver: request is too large"
"""All that Kubernetes says of such an object: it comes from the store below."""


def json_patched(tree: Tree, steps: Any) -> Tree:
    """The tree after all steps. ValueError if they are no JSON patch, Invalid if one of them cannot
    be done, TooLarge or InternalError if they make too much (API-64)."""
    if not isinstance(steps, tuple | list) or not all(isinstance(e, Mapping) for e in steps):
        raise ValueError(
            "a JSON patch is a list of steps, such as {'op': 'remove', 'path': '/metadata/labels'}"
        )
    if len(steps) > STEPS_MAX:
        raise TooLarge(
            "Request entity is too large: The allowed maximum operations in a JSON patch is "
            f"{STEPS_MAX}, got {len(steps)}"
        )
    # The whole object has the path "", so it stands under the empty name.
    root, copied = {"": tree}, 0
    try:
        for step in steps:
            copied += _do(root, step, COPIED_MAX - copied)
        if copied and _size(root) > OBJECT_MAX:
            raise InternalError(OBJECT_TOO_LARGE)
    except RecursionError as error:  # it is too deep to be copied, or to be any JSON
        raise Invalid(REFUSED) from error
    return root.get("")


def _size(tree: Tree) -> int:
    """How many bytes of JSON it is."""
    return len(encode(tree))


def _do(root: Tree, step: Mapping[str, Any], room: int) -> int:
    """Do one step, and return how many bytes it has copied; Invalid if these are more than that."""
    path = _parts(step, "path")
    match step.get("op"):
        case "add":
            _add(root, path, thawed(step.get("value")))
        case "remove":
            _take(root, path)
        case "replace":
            _found(root, path)
            holder, name = _holder(root, path), path[-1]
            holder[int(name) if isinstance(holder, list) else name] = thawed(step.get("value"))
        case "move":
            _add(root, path, _take(root, _parts(step, "from")))
        case "copy":
            value = _found(root, _parts(step, "from"))
            size = _size(value)
            if size > room:
                raise Invalid(REFUSED)
            _add(root, path, thawed(value))
            return size
        case "test":
            if not _is_same(_found(root, path), step.get("value")):
                raise Invalid(REFUSED)
        case _:
            raise Invalid(REFUSED)
    return 0


def _is_same(one: Tree, other: Tree) -> bool:
    """Whether two trees are the same JSON. It takes no longer than the smaller of them."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    # Bytes are compared, for Python takes 1 and true for the same.
    are_parts = isinstance(one, Mapping | list | tuple), isinstance(other, Mapping | list | tuple)
    return not any(are_parts) and encode(one) == encode(other)


def _parts(step: Mapping[str, Any], field: str) -> list[str]:
    """The names on a path, of which the first is always empty."""
    path = step.get(field)
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise Invalid(REFUSED)
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]


def _holder(root: Tree, path: list[str]) -> Tree:
    """The mapping or the list in which the last part of the path stands, or is to stand."""
    return _found(root, path[:-1]) if len(path) > 1 else root


def _found(root: Tree, path: list[str]) -> Tree:
    """The value at a path."""
    here = root
    for name in path:
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and _place(name, len(here) - 1) is not None:
            here = here[int(name)]
        else:
            raise Invalid(REFUSED)
    return here


def _take(root: Tree, path: list[str]) -> Tree:
    """Remove the value at a path, and return it."""
    value, holder = _found(root, path), _holder(root, path)
    del holder[int(path[-1]) if isinstance(holder, list) else path[-1]]
    return value


def _add(root: Tree, path: list[str], value: Tree) -> None:
    """Set a field, or insert an item before the one that has its place."""
    holder, name = _holder(root, path), path[-1]
    if isinstance(holder, dict):
        holder[name] = value
    elif isinstance(holder, list) and (name == APPEND or _place(name, len(holder)) is not None):
        holder.insert(len(holder) if name == APPEND else int(name), value)
    else:
        raise Invalid(REFUSED)


def _place(name: str, last: int) -> int | None:
    """The place in a list that a part of a path names, or None if it names none up to `last`."""
    is_number = name.isascii() and name.isdecimal() and (name == "0" or name[0] != "0")
    return int(name) if is_number and len(name) < 10 and int(name) <= last else None
