"""Fitting: a value of the wrong type is refused where its object enters a World, or is mended."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from testbed.objects import (
    Container,
    Event,
    Lease,
    Meta,
    Node,
    Note,
    Owner,
    Pod,
    PodSpec,
    Port,
    Resources,
)
from testbed.objects.fitting import Unfit, fitted
from testbed.objects.kinds import KINDS
from testbed.objects.meta import Map, Object, evolved
from testbed.objects.quantity import Quantity
from tests.each_row import each_row


def wrong(value: Any) -> Any:
    """What no type checker would let pass."""
    return value


def owned(**owner: Any) -> Pod:
    """A Pod with one owner."""
    whole = {"api_version": "v1", "kind": "Job", "name": "j", "uid": "u", **owner}
    return Pod(Meta("p", owners=(Owner(**whole),)))


class Counted:
    """A number, as a library has its own."""

    def __index__(self) -> int:
        return 3


UNFIT: dict[str, tuple[Any, str, str]] = {
    "a text for a tuple": (
        Pod(Meta("p", finalizers=wrong("x"))),
        "meta.finalizers is 'x': expected a tuple of texts",
        "say ('x',), as even one of them stands in a tuple",
    ),
    "a set, which has no order": (
        Pod(Meta("p", finalizers=wrong({"x"}))),
        "meta.finalizers is set(…): expected a tuple of texts",
        "give it a tuple of texts",
    ),
    "a part for a tuple of parts": (
        Pod.of("p", containers=Container("main")),
        "spec.containers is Container(…): expected a tuple of Containers",
        "say (Container(…),), as even one of them stands in a tuple",
    ),
    "an item of it": (
        Pod(Meta("p", finalizers=wrong(("x", 1)))),
        "meta.finalizers[1] is 1: expected a text",
        "say '1'",
    ),
    "an item of a list": (
        Pod.of("p", containers=["main"]),
        "spec.containers[0] is 'main': expected a Container",
        "give it a Container",
    ),
    "deep within": (
        Pod.of("p", containers=(Container("main", ports=(Port(wrong("80")),)),)),
        "spec.containers[0].ports[0].container_port is '80': expected a whole number",
        "say 80, without quotes",
    ),
    "a text for a number": (
        Pod.of("p", priority="high"),
        "spec.priority is 'high': expected a whole number",
        "give it a whole number",
    ),
    "a float": (
        Pod.of("p", priority=7.0), "spec.priority is 7.0: expected a whole number", "say 7"
    ),
    "a float that is no whole number": (
        Pod.of("p", priority=0.5),
        "spec.priority is 0.5: expected a whole number",
        "give it a whole number",
    ),
    "a bool for a number": (
        Pod.of("p", priority=True),
        "spec.priority is True: expected a whole number",
        "give it a whole number",
    ),
    "a number for a bool": (
        owned(controller=1), "meta.owners[0].controller is 1: expected True or False",
        "give it True or False",
    ),
    "nothing": (
        Pod.of("p", node_name=None), "spec.node_name is None: expected a text", "give it a text"
    ),
    "a tree of a manifest": (
        Pod("p", spec=wrong({"nodeName": "n"})),
        "spec is {'nodeName': 'n'}: expected a PodSpec",
        "give it a PodSpec",
    ),
    "a class": (
        Pod("p", spec=wrong(PodSpec)),
        "spec is the class PodSpec: expected a PodSpec",
        "give it a PodSpec",
    ),
    "a number of another class": (
        Pod.of("p", priority=Counted()),
        "spec.priority is Counted(…): expected a whole number",
        "make it one with int(…)",
    ),
    "a list with a set in it": (
        Pod("p", spec=wrong([{"x", "y"}])), "spec is list(…): expected a PodSpec",
        "give it a PodSpec",
    ),
    "a value of a Map": (
        evolved(Note("n"), data=Map(a=1)), "data['a'] is 1: expected a text", "say '1'"
    ),
    "a name in a Map": (
        evolved(Note("n"), data=Map({1: "a"})),  # type: ignore[dict-item]
        "data[1] is 1: expected a text as its name",
        "say '1'",
    ),
    "a long text": (
        Pod(Meta("p", finalizers=wrong("x" * 99))),
        f"meta.finalizers is '{'x' * 59}…: expected a tuple of texts",
        f"say ('{'x' * 59}…,), as even one of them stands in a tuple",
    ),
}  # fmt: skip


@each_row("case", UNFIT)
def test_what_does_not_fit_is_told_with_its_field(case: str) -> None:
    """Where it is, what it is, what was expected, and what to say; also if it was told before."""
    item, said, step = UNFIT[case]
    for _ in range(2):
        with pytest.raises(Unfit) as refused:
            fitted(item)
        assert (str(refused.value), refused.value.next_step) == (said, step)


def test_a_list_becomes_a_tuple_and_a_dict_a_map() -> None:
    """At any depth; then two objects that look equal are equal, and can be hashed."""
    ports: Any = [Port(80)]
    given = Pod(
        Meta("p", finalizers=wrong(["x"])),
        spec=PodSpec(containers=wrong([Container("main", ports=ports)])),
    )
    meant = Pod(
        Meta("p", finalizers=("x",)),
        spec=PodSpec(containers=(Container("main", ports=(Port(80),)),)),
    )
    assert given != meant
    assert fitted(given) == meant
    assert hash(fitted(given)) == hash(meant)
    assert fitted(evolved(Note("n"), data={"a": "b"})) == Note("n", data=Map(a="b"))


@each_row("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_fits_as_it_is_made(kind: type[Object]) -> None:
    """And is the same object, not a copy."""
    item = kind("n")
    assert fitted(item) is item


def test_what_fits_is_not_copied() -> None:
    """With values in its fields, too."""
    amounts = {"cpu": Quantity.parse("1"), "memory": Quantity.parse("1Gi")}
    main = Container("main", resources=Resources(requests=Map(amounts)), ports=(Port(80),))
    full = attrs.evolve(owned(controller=True), spec=PodSpec(containers=(main,), priority=3))
    for item in (full, Node.of("n", cpu_m=1), Note("n", data=Map(a="b")), Lease("l"), Event("e")):
        assert fitted(item) is item


@attrs.frozen
class Tree:
    """A part with parts of its own class, and some whose types are of no use here."""

    leaf: str = ""
    below: tuple[Tree, ...] = ()
    left: Tree | None = None
    shade: complex = 0j
    pair: tuple[str, int] = ("", 0)


@attrs.frozen
class Forest(Object):
    """A kind of a user's own."""

    tree: Tree = Tree()
    marks: Any = None


@attrs.frozen
class Hidden(Object):
    """One whose types cannot be had."""

    what: Unheard = None  # type: ignore[name-defined]  # noqa: F821


@attrs.frozen
class Absent(Object):
    """One whose module has no such type."""

    what: attrs.Unheard = None  # type: ignore[name-defined]


@attrs.frozen
class Odd(Object):
    """One with types of no use here."""

    none: tuple[()] = ()
    one: tuple[str] = ("a",)
    either: str | tuple[str, ...] = ()
    some: frozenset[str] = frozenset({"a"})


Odd.__annotations__["some"] = [str]


class Name(str):
    """A text of a user's own class."""

    __slots__ = ()


def test_a_kind_of_the_users_own_is_looked_at_as_far_as_its_types_are_known() -> None:
    """Of a class within itself, and of subclasses, too."""
    fine = Forest("f", tree=Tree(below=(Tree("a"), Tree(left=Tree("b"))), shade=wrong("dark")))
    for item in (fine, Forest("f", marks=[1]), Forest("f", tree=Tree(Name("a"))), Hidden("h")):
        assert fitted(item) is item
    odd = [Absent("a", what=[1]), Odd("o", one=wrong(3)), Odd("o")]
    assert [fitted(each) for each in odd] == odd
    with pytest.raises(Unfit, match=r"tree\.below\[0\]\.left\.leaf is 3: expected a text"):
        fitted(Forest("f", tree=Tree(below=(Tree(left=Tree(wrong(3))),))))
    for kind in (Hidden, Absent):
        with pytest.raises(Unfit, match=r"meta\.finalizers is 'x': expected a tuple of texts"):
            fitted(kind(Meta("k", finalizers=wrong("x"))))


@each_row("item", ["x", None, Pod, Meta("p")], ids=repr)
def test_what_is_no_object_is_refused(item: Any) -> None:
    """Also what is only a part of one."""
    with pytest.raises(Unfit, match=r"expected an object of testbed\.objects"):
        fitted(item)
