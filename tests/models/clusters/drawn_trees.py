"""Trees of any kind of object: fields that it models, rightly typed, and names that it does not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from testbed.objects import Object
from testbed.objects.form import fields_of
from testbed.objects.shape import FINE, TIME, Shape

leaves = st.one_of(st.booleans(), st.integers(-9, 9), st.sampled_from(["", "a", "1Gi", "é"]))
anything: st.SearchStrategy[Any] = st.recursive(
    leaves | st.just([]) | st.just({}),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "type", "x", "y"]), inner, max_size=3),
    ),
    max_leaves=6,
)
TIMES = st.integers(-9, 9).map(lambda n: f"2025-01-01T00:00:{n % 60:02}Z")
QUANTITIES = st.sampled_from(["0", "1", "500m", "1Gi", "10e3"])


def trees_of(cls: type, depth: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """Trees of a class: fields it models, rightly typed, and names that it does not model."""
    known = {
        field.wire_name: trees_for(field.shape, depth)
        for field in fields_of(cls)
        if depth or field.is_always
    }
    must = {f.wire_name for f in fields_of(cls) if f.is_always}
    required = {name: known[name] for name in known if name in must}
    optional = {name: known[name] for name in known if name not in must}
    modelled = st.fixed_dictionaries(required, optional=optional)
    beyond = st.dictionaries(st.sampled_from(["later", "newer"]), anything, max_size=1)
    return st.builds(lambda one, other: {**other, **one}, modelled, beyond)


def trees_for(shape: Shape, depth: int) -> st.SearchStrategy[Any]:
    """Trees of a shape, found out by what it reads: the shape itself tells no more."""
    if shape.expected == "a mapping":
        cls = getattr(shape.read, "args", (None,))[0]
        return trees_of(cls, depth - 1) if cls else maps_for(shape)
    if shape.expected == "a list":
        item = inner(shape)
        return st.lists(trees_for(item, max(depth - 1, 0)), max_size=2)
    return {
        "a text": st.sampled_from(["", "a", "b", "é"]),
        "true or false": st.booleans(),
        "a whole number": st.integers(-3, 3),
        "a whole number or a percentage": st.sampled_from([0, 1, "50%"]),
        TIME: TIMES,
        FINE: TIMES.map(lambda text: text.replace("Z", ".250000Z")),
    }.get(shape.expected, QUANTITIES)


def inner(shape: Shape) -> Shape:
    """The shape of the parts of a list or a mapping."""
    (found,) = (
        cell.cell_contents
        for cell in getattr(shape.read, "__closure__", ())
        if isinstance(cell.cell_contents, Shape)
    )
    assert isinstance(found, Shape)
    return found


def maps_for(shape: Shape) -> st.SearchStrategy[Any]:
    """Mappings of such parts, by names."""
    return st.dictionaries(st.sampled_from(["a", "cpu"]), trees_for(inner(shape), 1), max_size=2)


def headed(cls: type[Object], tree: dict[str, Any]) -> dict[str, Any]:
    """The tree with what the class itself says of it, and a namespace."""
    meta = {"namespace": "x", **tree["metadata"]}
    if not meta["namespace"]:
        meta["namespace"] = "x"
    return {**tree, "apiVersion": cls.api_version, "kind": cls.kind, "metadata": meta}
