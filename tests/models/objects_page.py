"""docs/objects.md, made of the classes of `testbed.objects`: every kind, every part, every field.

`.venv/bin/python -m tests.models.api_page` writes this page, too.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import attrs

import testbed.objects
from testbed.objects import KINDS, Map, Object, Quantity, Revision
from testbed.objects.form import wire_name_of
from tests.models.api_page import fields_told, members, row, table, whole

PAGE: Path = Path(__file__).parent.parent.parent / "docs/objects.md"
FIRST = ("Pod", "Node", "Note", "ConfigMap", "Lease", "ReplicaSet", "PodDisruptionBudget")
"""The kinds that most Worlds have, before the others."""
HEAD = """\
# Objects

What a cluster is made of: `from testbed.objects import …`. Here is every kind, every part of it,
and every field that you may set. A field is named as in Kubernetes, in Python's spelling:
`nodeName` is `node_name`. If a manifest has another name for it, that stands in brackets. A time
ends in `_ms` and counts from the beginning of the World; a length of time ends in `_s`. The page is
made of the classes. What kubectl prints can be read, too: [manifests.md](manifests.md).

```python
import attrs
from testbed.objects import LabelSelector, Lease, LeaseSpec, Map, Meta, Node, Note, Owner, Pod
from testbed.objects import PodDisruptionBudget, PodDisruptionBudgetSpec, PriorityClass

node = Node.of("n1", cpu_m=4000, memory=8 << 30)
pod = Pod.of("web-0", cpu_m=500, labels={"app": "web"}, priority_class_name="high")
held = pod.with_meta(finalizers=("example.com/backup",))  # not removed while it has a finalizer
owner = Owner("apps/v1", "ReplicaSet", "web", uid="set-1", controller=True)
owned = Pod(Meta("web-1", "shop", labels={"app": "web"}, owners=(owner,)))
bound = attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="n1"))
budget = PodDisruptionBudget(
    "web", spec=PodDisruptionBudgetSpec(1, selector=LabelSelector(Map(app="web")))
)
high = PriorityClass("high", value=1000)
lease = Lease("leader", spec=LeaseSpec(holder="ann", duration_s=15, renewed_ms=0))
signed = Note("list", data={"signed": ""}).saying(signed="ann")
```

An object never changes: `attrs.evolve` and `with_meta` make a copy, and `client.update` writes it.
A name is `name` or `namespace/name`; without a namespace it is in `default`. Lists are tuples:
`("x",)` with one item. A label is a text, also if it looks like a number. `world.add`,
`client.create` and `client.update` refuse a value of the wrong type, and name its field; a list
becomes a tuple there.

Defaults, admission, graceful deletion and finalizers are an API server's:
`world.serve(lambda store: ApiServer(store))` with `from actors.apiserver import ApiServer`
([apiserver.md](apiserver.md)). Without one, actors speak to the Store itself, which keeps what it
is given, deletes at once, and knows no patch.
"""


def page() -> str:
    """The whole text."""
    told: list[type] = []
    parts = [HEAD, "## What every object has\n"]
    parts += _family(Object, told)
    parts += [_entry(cls) for cls in (Map, Revision, Quantity)]
    for kind in kinds():
        parts.append(f"## {kind.kind}\n")
        parts += _family(kind, told)
    rows = [row(name, value) for name, value in _exported() if inspect.isfunction(value)]
    parts.append("## Beside the classes\n\n" + table("function", rows))
    return "\n".join(parts)


def kinds() -> list[type[Object]]:
    """Every kind, those that most Worlds have first."""
    place = {name: number for number, name in enumerate(FIRST)}
    return sorted(KINDS, key=lambda kind: (place.get(kind.kind, len(place)), kind.kind))


def parts_of(cls: type) -> Iterator[type]:
    """A class, and each class that a field of it holds, at any depth, each once."""
    waiting, seen = [cls], [cls]
    while waiting:
        here = waiting.pop(0)
        yield here
        hints = get_type_hints(here)
        for field in attrs.fields(here):
            for part in _classes_in(hints[field.name]):
                if part not in seen:
                    seen.append(part)
                    waiting.append(part)


def _classes_in(hint: Any) -> Iterator[type]:
    if inspect.isclass(hint) and attrs.has(hint):
        yield hint
    for inner in get_args(hint):
        yield from _classes_in(inner)


def _family(cls: type, told: list[type]) -> Iterator[str]:
    """The entries of a class and of its parts that no family before has told."""
    for part in parts_of(cls):
        if part not in told and part is not Quantity:
            told.append(part)
            yield _entry(part)


def _entry(cls: type) -> str:
    lines = [f"### `{cls.__name__}`\n", f"{whole(cls)}{_kind_of(cls)}\n"]
    if rows := [_field_row(cls, field) for field in _own_fields(cls)]:
        lines.append("| field | type | is |\n|---|---|---|")
        lines += [f"| {name} | {kind} | {text} |" for name, kind, text in rows]
        lines.append("")
    told = fields_told(cls)
    own = [
        row(name, value)
        for name, value in members(cls).items()
        if name not in told and (cls is Object or name not in members(Object))
        # A Map refuses `clear` and the like by one method that has another name.
        if getattr(value, "__name__", name) == name
    ]
    return "\n".join(lines) + (f"\n{table('member', own)}" if own else "")


def _kind_of(cls: type) -> str:
    if not issubclass(cls, Object) or cls is Object:
        return ""
    where = "in a namespace" if cls.is_namespaced else "cluster-scoped"
    return f" `{cls.api_version}`, {where}; its keys are `{_key_of(cls)}`."


def _key_of(cls: type[Object]) -> str:
    return f"{cls.plural}/default/NAME" if cls.is_namespaced else f"{cls.plural}/NAME"


def _own_fields(cls: type) -> list[attrs.Attribute[Any]]:
    """Its fields; of a kind, those that not every object has."""
    if not attrs.has(cls):
        return []
    common = set() if cls is Object else {field.name for field in attrs.fields(Object)}
    is_kind = issubclass(cls, Object)
    return [f for f in attrs.fields(cls) if not (is_kind and f.name in common)]


def _field_row(cls: type, field: attrs.Attribute[Any]) -> tuple[str, str, str]:
    wire = field.metadata.get("wire", "")
    also = f" (`{wire}`)" if wire and wire != wire_name_of(field.name) else ""
    needed = field.default is attrs.NOTHING
    kind = _annotations(cls)[field.name].replace("|", "\\|")
    return (
        f"`{field.name}`{also}",
        f"`{kind}`{', needed' if needed else ''}",
        fields_told(cls)[field.name],
    )


def _annotations(cls: type) -> dict[str, str]:
    """The types of its fields as they are written."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    return {
        node.target.id: ast.unparse(node.annotation)
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _exported() -> list[tuple[str, Any]]:
    return [(name, getattr(testbed.objects, name)) for name in sorted(testbed.objects.__all__)]
