"""Names: each text that stands for a name is held to its grammar, in whatever object it stands."""

from __future__ import annotations

from typing import Any, get_type_hints

import attrs
import pytest

from testbed.objects import (
    KINDS,
    ConfigMap,
    Container,
    Meta,
    Namespace,
    Node,
    Pod,
    PodSpec,
    ReplicaSet,
    Taint,
)
from testbed.objects.form import fields_of
from testbed.objects.meta import Map, Object, Owner
from testbed.objects.names import ANNOTATIONS_MAX, RULES, wrong_names
from tests.each_row import each_row

ODD = "a\nb"


def reached() -> dict[type, tuple[type[Object], tuple[str, ...]]]:
    """Each class with a rule, with the kind and the fields by which it is found first."""
    found: dict[type, tuple[type[Object], tuple[str, ...]]] = {}
    open_: list[tuple[type, type[Object], tuple[str, ...]]] = [(kind, kind, ()) for kind in KINDS]
    seen = set[type]()
    while open_:
        cls, kind, path = open_.pop(0)
        if cls in seen:
            continue
        seen.add(cls)
        if cls in RULES:
            found[cls] = (kind, path)
        for field in fields_of(cls):
            if field.shape.parts is not None:
                open_.append((field.shape.parts, kind, (*path, field.name)))
    return found


def made(cls: type, given: dict[str, Any]) -> Any:
    """An instance with those fields, and something in each other one that needs a value."""
    for field in attrs.fields(cls):
        if field.default is attrs.NOTHING and field.name not in given:
            given[field.name] = 1 if get_type_hints(cls)[field.name] is int else "a"
    return cls(**given)


def holding(kind: type, path: tuple[str, ...], part: Any) -> Any:
    """An instance of that kind with this part at those fields."""
    if not path:
        return part
    (field,) = [each for each in fields_of(kind) if each.name == path[0]]
    assert field.shape.parts is not None
    inner = holding(field.shape.parts, path[1:], part)
    return made(kind, {path[0]: (inner,) if field.shape.is_list else inner})


def odd(cls: type, field: str) -> Any:
    """A value of that field with a line break where a name is to be; of an owner, nothing at all,
    for that is all that Kubernetes asks."""
    hint = str(get_type_hints(cls)[field])
    if "Map" in hint:
        return Map({ODD: Map() if "Any" in hint else 1 if "Quantity" in hint else "b"})
    value = "" if cls is Owner else ODD
    return (value,) if "tuple" in hint else value


RULED = [(cls, field) for cls, rules in RULES.items() for field in rules]


@pytest.mark.spec("API-10")
@each_row(("cls", "field"), RULED, ids=lambda each: getattr(each, "__name__", each))
def test_a_name_of_two_lines_is_refused_wherever_it_stands(cls: type, field: str) -> None:
    """Each row of the table is reached from an object, and refuses what no name can be."""
    kind, path = reached()[cls]
    item = holding(kind, path, made(cls, {field: odd(cls, field)}))
    said = [wrong for wrong in wrong_names(item) if "\\n" in wrong or "owner" in wrong]
    assert len(said) == 1, said
    assert said[0].isprintable()
    assert ": Invalid value: " in said[0]
    assert [*wrong_names(item, item)] == [], "what was there before is refused to nobody"


@pytest.mark.spec("API-10")
@each_row(
    ("item", "said"),
    [
        (Pod(Meta("../..")), 'metadata.name: Invalid value: "../..": a lowercase RFC 1123 subd'),
        (Node.of("<script>"), 'metadata.name: Invalid value: "<script>": a lowercase RFC 1123 sub'),
        (Namespace("a.b"), 'metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label must'),
        (Pod.of("A/p"), 'metadata.namespace: Invalid value: "A": a lowercase RFC 1123 label must'),
        (Pod.of("p", node_name="\x1b[2J"), 'spec.nodeName: Invalid value: "\\u001b[2J": a lower'),
        (Node.of("n", taints=[Taint("a", "-")]), 'spec.taints[0].value: Invalid value: "-": a val'),
        (
            ReplicaSet(Meta("r", finalizers=("a", "b c"))),
            'metadata.finalizers[1]: Invalid value: "b c": name part must consist',
        ),
        (
            Pod("p", spec=PodSpec(containers=(Container("a"), Container("B")))),
            'spec.containers[1].name: Invalid value: "B": a lowercase RFC 1123 label',
        ),
        (ConfigMap("c", data=Map({"..": ""})), 'data: Invalid value: "..": a valid config key'),
        (
            Pod.of("p").with_meta(annotations={"a": "b" * ANNOTATIONS_MAX}),
            f"metadata.annotations: Too long: must have at most {ANNOTATIONS_MAX} bytes",
        ),
    ],
)  # fmt: skip
def test_a_mistake_names_its_field_in_the_words_of_kubernetes(item: Any, said: str) -> None:
    """And shows the value so that no terminal obeys it."""
    (wrong,) = wrong_names(item)
    assert wrong.startswith(said)


@pytest.mark.spec("API-10")
def test_what_kubernetes_lets_be_is_let_be() -> None:
    """An annotation may have capitals in its prefix; a name dots; a finalizer a path."""
    labels, notes = {"a.b/C": "", "d": "E"}, {"Example.com/A_b": "x: y\n"}
    meta = Meta("web-1.a", labels=labels, annotations=notes, finalizers=("example.com/a", "orphan"))
    pod = Pod(meta)
    assert [*wrong_names(pod)] == []
