"""Part patching: what it makes of an object is what comes of the object's tree."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.apiserver.verbs.part_patching import patched_by_part
from actors.apiserver.verbs.patching import KEYS, SETS, patched
from testbed.objects import KINDS, Condition, Map, Node, NodeSpec, Object, Pod, Taint
from testbed.objects.codec import encode_line
from testbed.objects.form import fields_of, from_tree, to_tree
from testbed.objects.meta import wire
from testbed.objects.plain import frozen
from testbed.objects.settled import settled
from testbed.objects.shape import Shape
from tests.models.clusters.drawn_trees import anything, headed, inner, trees_for, trees_of
from tests.models.counter import Counter

HOWS = st.sampled_from(["merge", "strategic", "strategic"])
MERGED = frozenset((*KEYS, *SETS))


@attrs.frozen
class Item:
    """An item of a list that is merged by its type."""

    type: str = attrs.field(default="", metadata=wire(always=True))
    number: int = 0
    since_ms: int | None = attrs.field(default=None, metadata=wire("since", "time"))


@attrs.frozen
class Part:
    """A part of a widget."""

    text: str = ""
    maybe: str | None = None
    tags: Map[str] = attrs.field(factory=Map)
    conditions: tuple[Item, ...] = ()


@attrs.frozen
class Strict:
    """A part that has to say its name."""

    name: str
    text: str = ""


@attrs.frozen
class Widget(Object):
    """A kind with few fields, each of another sort."""

    kind: ClassVar[str] = "Widget"
    plural: ClassVar[str] = "widgets"

    spec: Part = Part()
    maybe: Part | None = None
    strict: Strict | None = None
    conditions: tuple[Item, ...] = ()
    ports: tuple[Item, ...] = ()
    """They have no field by which a strategic patch could merge them."""
    finalizers: tuple[str, ...] = ()


def patches_of(cls: type, depth: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """Patches of a class: of some of its fields, and now and then with a directive, with a name
    that it does not model, or with what cannot be."""
    known = {field.wire_name: field.shape for field in fields_of(cls)}
    said = {name: changes_for(name, shape, depth) for name, shape in known.items()}
    for name in sorted(known.keys() & MERGED):
        order = st.sampled_from(["", "a", "b"]).map(partial(ordered_by, KEYS.get(name, "")))
        said[f"$setElementOrder/{name}"] = st.lists(order, max_size=3)
    rare = {
        "$patch": st.sampled_from(["replace", "delete", "merge", "what"]),
        "$retainKeys": st.lists(st.sampled_from([*known]), max_size=2),
        "$deleteFromPrimitiveList/finalizers": st.just(["a"]),
        "later": st.none() | anything,
    }
    usual = st.lists(st.sampled_from([*said]), min_size=1, max_size=4, unique=True)
    unusual = st.lists(st.sampled_from([*said, *rare]), max_size=4, unique=True)
    names = st.one_of(usual, usual, usual, unusual)
    return names.flatmap(lambda some: st.fixed_dictionaries({n: {**said, **rare}[n] for n in some}))


def ordered_by(key: str, name: str) -> Any:
    """How `$setElementOrder` names an item."""
    return {key: name} if key else name


def changes_for(name: str, shape: Shape, depth: int) -> st.SearchStrategy[Any]:
    """What a patch may say of a field: rightly typed, null, or now and then anything."""
    if not depth:
        return st.none() | trees_for(shape, 0)
    usual = st.none() | trees_for(shape, depth - 1)
    if shape.parts is not None and not shape.is_list:
        usual = patches_of(shape.parts, depth - 1)
    elif shape.is_list and shape.parts is not None and name in KEYS:
        items = st.tuples(patches_of(shape.parts, depth - 1), keys_for(KEYS[name], shape.parts))
        usual = st.lists(items.map(an_item), min_size=1, max_size=3)
    elif shape.expected == "a mapping":
        value = st.none() | trees_for(inner(shape), 1)
        usual = st.dictionaries(st.sampled_from(["a", "cpu", "n"]), value, max_size=2)
    elsewise = st.one_of(st.none(), trees_for(shape, depth - 1), anything)
    return st.one_of(usual, usual, usual, usual, elsewise)


def keys_for(key: str, cls: type) -> st.SearchStrategy[dict[str, Any]]:
    """What identifies an item of a list, and whether it is to be deleted."""
    shapes = {field.wire_name: field.shape for field in fields_of(cls)}
    if key not in shapes:
        return st.just({})
    plain = st.fixed_dictionaries({key: trees_for(shapes[key], 0)})
    deleted = plain.map(lambda said: {**said, "$patch": "delete"})
    return st.one_of(plain, plain, deleted)


def an_item(parts: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """An item of a list as a patch has it."""
    return {**parts[0], **parts[1]}


def told(make: Any) -> Any:
    """The tree of what is made, as it is stored, to the order of its names; or the refusal."""
    try:
        return encode_line(to_tree(settled(make())))
    except ValueError as error:
        return type(error), str(error)


def by_tree(item: Any, patch: Any, how: str) -> Any:
    """What comes of the tree."""
    return told(lambda: from_tree(type(item), patched(to_tree(item), patch, how)))


@pytest.mark.spec("API-13")
@pytest.mark.parametrize("cls", [*KINDS, Widget], ids=lambda cls: cls.kind)
def test_what_is_patched_by_part_is_as_its_tree_says(cls: type[Object]) -> None:
    """Of any kind, with any fields that nobody models, one patch after another. What cannot be
    patched in place is left to the tree, and so is what the tree refuses."""
    in_place = []

    @settings(max_examples=150 if cls is Widget else 10, deadline=None)
    @given(
        trees_of(cls).map(lambda tree: headed(cls, tree)),
        st.lists(st.tuples(patches_of(cls), HOWS), max_size=3),
    )
    def it_is(tree: dict[str, Any], patches: list[tuple[dict[str, Any], str]]) -> None:
        item: Any = settled(from_tree(cls, tree))
        for said, how in patches:
            patch = frozen(said, nulls=True)
            new, expected = patched_by_part(item, patch, how), by_tree(item, patch, how)
            in_place.append(new is not None)
            if new is not None:
                assert told(lambda new=new: new) == expected
                assert settled(new) == settled(from_tree(cls, patched(to_tree(item), patch, how)))
                item = settled(new)

    it_is()
    assert any(in_place)


NAMES = st.lists(st.sampled_from("abc"), max_size=3, unique=True)
SINCE = "2025-01-01T00:00:07Z"
SAID = st.fixed_dictionaries(
    {"type": st.sampled_from("abcd")},
    optional={
        "number": st.none() | st.integers(0, 2),
        "since": st.none() | st.just(SINCE),
        "$patch": st.just("delete"),
        "later": st.none() | st.just("x"),
    },
)


@given(
    NAMES,
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "conditions": st.none() | st.lists(SAID, max_size=3),
            "$setElementOrder/conditions": st.permutations("abc").map(
                lambda names: [{"type": name} for name in names]
            ),
            "tags": st.none() | st.just({"a": None, "b": "2"}),
            "maybe": st.none() | st.just("x"),
        },
    ),
)
@example([], False, {"$setElementOrder/conditions": [{"type": "a"}]})
def test_a_list_is_merged_in_place_as_its_tree_is(
    names: list[str], has_rest: bool, said: dict[str, Any]
) -> None:
    """Items that change, that come, that go, and the order of all, one after another; also where
    items have fields that nobody models, and where the part itself was not there."""
    items = [{"type": name, "number": 1, **({"later": 1} if has_rest else {})} for name in names]
    tree = {"conditions": items, "maybe": "", "tags": {"a": "1"}} if names else {}
    item = settled(from_tree(Widget, headed(Widget, {"metadata": {"name": "w"}, "maybe": tree})))
    patch = frozen({"maybe": said}, nulls=True)
    new = patched_by_part(item, patch, "strategic")
    expected = by_tree(item, patch, "strategic")
    assert new is None or told(lambda: new) == expected
    is_usual = not has_rest and all("later" not in each for each in said.get("conditions") or ())
    assert new is not None or not is_usual


def test_what_a_patch_does_not_name_stays_the_same_value() -> None:
    """Not only an equal one. So does all that it says and that is so already."""
    counter = Counter()
    ready, scheduled = Condition("Ready", "True"), Condition("PodScheduled", "True")
    pod = counter.create(Pod.of("p", cpu_m=100))
    tree = {
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "PodScheduled", "status": "True"},
        ]
    }
    old = counter.patch(pod, {"status": tree}, "strategic", "status")
    assert old.status.conditions == (ready, scheduled)
    change = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    new = counter.patch(pod, {"status": change}, "strategic", "status")
    assert new.spec is old.spec
    assert new.meta.labels is old.meta.labels
    assert new.status.conditions[1] is old.status.conditions[1]
    same = counter.patch(pod, {"status": tree | change}, "strategic", "status")
    assert same is counter.get(Pod, "p")


def test_a_time_with_a_fraction_is_left_to_the_tree() -> None:
    """It is read as a whole second, whatever the patch is of."""
    item = Node("n", spec=NodeSpec(taints=(Taint("a", added_ms=1500),)))
    patch = frozen({"metadata": {"labels": {"a": "1"}}})
    assert patched_by_part(item, patch, "merge") is None
    assert patched_by_part(from_tree(Node, to_tree(item)), patch, "merge") is not None
    counter = Counter()
    assert counter.patch(counter.create(item), patch).spec.taints[0].added_ms == 1000
