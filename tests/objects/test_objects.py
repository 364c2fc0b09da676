"""The objects: frozen, compared by what they say, and the same bytes for the same value."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.objects import Map, Meta, Node, Note, Object, Pod, PodSpec, Revision
from testbed.objects.codec import decode, encode, encode_line
from testbed.objects.meta import changed_fields, field_of, key_of, prefix_of
from tests.each_row import each_row

BOUND = Pod("p", spec=PodSpec("n1"))


@each_row(
    "change",
    [
        lambda m: m.__setitem__("a", "2"),
        lambda m: m.__delitem__("a"),
        lambda m: m.update(a="2"),
        lambda m: m.setdefault("b", "2"),
        lambda m: m.pop("a"),
        lambda m: m.popitem(),
        lambda m: m.clear(),
        lambda m: m.__ior__({"a": "2"}),
    ],
)
def test_a_map_never_changes(change: Callable[[Any], object]) -> None:
    """Every way a dict has of changing is refused, and the refusal says what to do instead."""
    labels = Map(a="1")
    with pytest.raises(TypeError, match="having"):
        change(labels)
    assert labels == {"a": "1"}
    assert labels.having(b="2") == {"a": "1", "b": "2"}


def test_a_map_goes_to_another_process() -> None:
    """As a Map, with the same items."""
    sent = Map(a="1", b="2")
    for got in (pickle.loads(pickle.dumps(sent)), copy.deepcopy(sent)):
        assert isinstance(got, Map)
        assert got == sent


@pytest.mark.spec("API-4")
@each_row("order", [operator.lt, operator.le, operator.gt, operator.ge])
def test_two_revisions_can_be_equal_but_not_ordered(order: Callable[[Any, Any], bool]) -> None:
    """To order two of them is an error, which says what to keep instead."""
    assert Revision(7) == Revision("7") != Revision(8)
    assert Revision(7) != 7
    with pytest.raises(TypeError, match=r"rv 7 and rv 8 cannot be ordered.* order of your watch"):
        order(Revision(7), Revision(8))


@each_row(
    ("item", "key"),
    [
        (Pod("p"), "pods/default/p"),
        (Pod("team/p"), "pods/team/p"),
        (Note(Meta("n", "team")), "notes/team/n"),
        (Node("n1"), "nodes/n1"),
    ],
)
def test_an_object_knows_where_it_stands(item: Object, key: str) -> None:
    """A name alone means the default namespace; what belongs to the cluster has none."""
    assert item.key == key
    assert key_of(type(item), item.meta.name, item.meta.namespace) == key
    assert key.startswith(prefix_of(type(item)))
    assert key.startswith(prefix_of(type(item), item.meta.namespace))


def test_with_meta_changes_the_meta_alone() -> None:
    """The rest is the same by reference, and a field that a Meta does not have is refused."""
    moved = BOUND.with_meta(uid="u", labels={"a": "1"})
    assert (moved.meta.uid, moved.meta.name, moved.meta.labels) == ("u", "p", Map(a="1"))
    assert moved.spec is BOUND.spec
    assert hash(moved)
    with pytest.raises(TypeError, match="nmae"):
        BOUND.with_meta(nmae="q")


def test_two_objects_are_as_one_another_but_for_their_revision() -> None:
    """That is what makes a write one that changes nothing."""
    assert BOUND.is_as(BOUND.with_meta(revision=Revision(9)))
    assert not BOUND.is_as(BOUND.with_meta(uid="u"))
    assert not BOUND.is_as(Pod("p"))
    assert not Pod("p").is_as(Node("p"))


@each_row(
    ("path", "value"),
    [
        ("spec.node_name", "n1"),
        ("meta.labels.app", None),
        ("meta.name", "p"),
        ("spec.node_name.more", None),
        ("nothing.at.all", None),
    ],
)
def test_a_field_is_found_by_its_path(path: str, value: object) -> None:
    """What is not there is None, however deep one asks."""
    assert field_of(BOUND, path) == value
    assert field_of(Note("n", data=Map(owner="x")), "data.owner") == "x"
    assert field_of(Note("n", data=Map(items="x")), "data.items") == "x"
    assert field_of(Note("n", data=Map(owner="x")), "data.items") is None


texts = st.sampled_from(["", "1", "2"])
pods = st.builds(
    Pod,
    meta=st.builds(Meta, name=st.just("p"), labels=st.dictionaries(texts, texts, max_size=2)),
    spec=st.builds(PodSpec, node_name=texts, scheduler_name=texts),
)


@given(pods, pods)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_the_changed_fields_are_where_two_objects_differ(old: Pod, new: Pod) -> None:
    """None if they are equal; otherwise the paths, and at each of them they differ."""
    fields = list(changed_fields(old, new))
    assert bool(fields) == (old != new)
    assert all(field_of(old, path) != field_of(new, path) for path in fields)
    assert not list(changed_fields(old, old.with_meta(revision=Revision(3))))


def test_the_same_value_is_the_same_bytes() -> None:
    """Keys of a mapping are sorted; a Revision is its text; what else there is has its order."""
    one = Note(Meta("n", "default", revision=Revision(5)), data=Map(b="2", a="1"))
    other = Note(Meta("n", "default", revision=Revision("5")), data=Map(a="1", b="2"))
    assert encode(one) == encode(other)
    assert b'"data":{"a":"1","b":"2"}' in encode(one)
    assert b'"revision":"5"' in encode(one)
    assert encode_line({"n": 1, "at": 0}) == b'{"n":1,"at":0}'


def test_what_is_no_data_is_refused() -> None:
    """A thing that cannot be written down has no place in a trace, and is named."""
    with pytest.raises(TypeError, match=r"function .* cannot stand in a trace"):
        encode({"fn": test_what_is_no_data_is_refused})


@each_row("line", [b"", b"{", b'{"a":1}}', b"\xff", b"[" * 100_000])
def test_a_line_that_is_no_json_is_a_value_error(line: bytes) -> None:
    """Whatever is wrong with it, also if it is nested beyond all measure."""
    with pytest.raises(ValueError, match=r"."):
        decode(line)


def test_a_meta_in_which_nothing_changes_is_kept() -> None:
    """The object is the same one; any change makes another, and a field there is not is refused."""
    note = Note("n")
    assert note.with_meta(uid="", deleted_ms=None) is note
    changed = note.with_meta(uid="u", deleted_ms=None)
    assert (changed.meta.uid, note.meta.uid) == ("u", "")
    with pytest.raises(TypeError, match="a Meta has no uids; it has name, namespace"):
        note.with_meta(uids="")
