"""The wire form: what an object says on the wire, and back; nothing lost, nothing crashed."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.objects import KINDS, Condition, Map, Object, Pod, Quantity, Revision
from testbed.objects.codec import decode, encode
from testbed.objects.form import (
    fields_of,
    from_tree,
    to_tree,
    unmodelled,
    wire_name_of,
)
from testbed.objects.meta import wire
from testbed.objects.plain import DEPTH_MAX, Misfit, frozen, shown
from testbed.objects.settled import settled
from testbed.objects.shape import Shape
from tests.each_row import each_row
from tests.models.clusters.drawn_trees import headed, inner, leaves, trees_of

OFTEN = settings(max_examples=100, derandomize=True, deadline=None)
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "namespace": "team",
        "uid": "u-1",
        "resourceVersion": "7",
        "creationTimestamp": "2025-01-01T00:00:05Z",
        "labels": {"app": "web", "empty": ""},
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {
        "nodeName": "n1",
        "priority": 0,
        "hostNetwork": False,
        "containers": [
            {
                "name": "main",
                "resources": {"requests": {"cpu": "500m"}, "claims": [{"name": "gpu"}]},
                "env": [{"name": "A", "value": ""}],
                "ports": [{"containerPort": 80, "hostPort": 0}],
            },
            {"name": "side", "env": [{"name": "B", "value": "2"}]},
        ],
        "tolerations": [{"key": "a", "operator": "Exists", "later": 1}, {"operator": "Exists"}],
        "volumes": [],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "Ready", "status": "True", "observedGeneration": 3},
            {"type": "PodScheduled", "status": "True", "observedGeneration": 1},
        ],
    },
}


def test_what_is_modelled_is_read_into_its_field_and_the_rest_kept_beside() -> None:
    """Known fields are read; `extra` has the others, and notes which were given as empty."""
    pod = from_tree(Pod, POD)
    assert (pod.meta.created_ms, pod.meta.revision, pod.spec.priority) == (5000, Revision(7), 0)
    assert pod.spec.containers[0].resources.requests == {"cpu": Quantity.parse("500m")}
    assert pod.extra == {
        "metadata": {"managedFields": ({"manager": "kubectl", "fieldsV1": {"f:spec": {}}},)},
        "spec": {
            "hostNetwork": False,
            "containers": {
                "main": {
                    "resources": {"claims": ({"name": "gpu"},)},
                    "env": ({"name": "A", "value": ""},),
                    "ports": {"0": {"hostPort": 0}},
                },
                "side": {"env": ({"name": "B", "value": "2"},)},
            },
            "tolerations": {"0": {"later": 1}},
            "volumes": (),
        },
        "status": {
            "conditions": {
                "Ready": {"observedGeneration": 3},
                "PodScheduled": {"observedGeneration": 1},
            }
        },
    }
    assert to_tree(pod) == POD
    assert hash(pod) == hash(from_tree(Pod, frozen(POD)))


def changed(pod: Pod, part: str, **changes: Any) -> dict[str, Any]:
    """The tree of a Pod after a change by an actor to its spec or its status."""
    return to_tree(attrs.evolve(pod, **{part: attrs.evolve(getattr(pod, part), **changes)}))


def test_what_is_kept_beside_stays_with_what_it_stood_beside() -> None:
    """A change to a field changes that alone; parts of a list are known by their names."""
    pod = from_tree(Pod, POD)
    main, side = pod.spec.containers
    assert changed(pod, "spec", node_name="n2") == {
        **POD,
        "spec": {**POD["spec"], "nodeName": "n2"},
    }
    swapped = changed(pod, "spec", containers=(side, main))["spec"]["containers"]
    assert swapped == POD["spec"]["containers"][::-1]
    fewer = changed(pod, "spec", containers=(side,))["spec"]["containers"]
    assert fewer == POD["spec"]["containers"][1:]
    new = Condition("DisruptionTarget", "True")
    more = changed(pod, "status", conditions=(new, *pod.status.conditions))["status"]["conditions"]
    assert more == [{"type": "DisruptionTarget", "status": "True"}, *POD["status"]["conditions"]]
    port = attrs.evolve(main.ports[0], host_port=8080)
    opened = changed(pod, "spec", containers=(attrs.evolve(main, ports=(port,)), side))
    assert opened["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 8080}]


@each_row(
    "spec",
    [
        {"priority": 0, "terminationGracePeriodSeconds": 0, "nodeName": "", "containers": []},
        {"affinity": {}, "nodeSelector": {}, "overhead": {}, "tolerations": [{}]},
        {"affinity": {"podAffinity": {}, "nodeAffinity": {}}},
        {"containers": [{"name": "", "resources": {}}, {"name": "", "resources": {"limits": {}}}]},
        {"hostPID": False, "hostname": "", "volumes": [], "securityContext": {}},
        {"topologySpreadConstraints": []},
        {},
    ],
)
def test_an_explicit_nought_is_written_again(spec: dict[str, Any]) -> None:
    """Zero, false, the empty text, list and mapping: nothing said is not the same as these."""
    tree = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "x"}}
    assert to_tree(from_tree(Pod, {**tree, "spec": spec})) == {**tree, "spec": spec}


def test_what_is_settled_says_nothing_of_what_is_empty() -> None:
    """Fields that are modelled and empty are left out, at any depth, and parts of lists that are
    gone; all else that is not modelled stays, be it empty too."""
    container = {"name": "m", "env": [], "tty": False, "ports": [{"containerPort": 80, "x": {}}]}
    other, beside = {"name": "n", "tty": True}, {"dnsPolicy": "", "volumes": []}
    kept = {"containers": [container, other], "affinity": {"podAffinity": {}}, **beside}
    full = [{**container, "image": "", "resources": {"limits": {}}}, other]
    nought = {"nodeName": "", "tolerations": [], "overhead": {}}
    tree = {"metadata": {"name": "p"}, "spec": {**kept, **nought, "containers": full}}
    pod = settled(from_tree(Pod, tree))
    assert to_tree(pod)["spec"] == kept
    assert settled(pod) is pod
    fewer = attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=pod.spec.containers[:1]))
    assert settled(fewer).extra["spec"]["containers"] == {"m": pod.extra["spec"]["containers"]["m"]}
    none = attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=()))
    assert settled(none).extra["spec"] == {"dnsPolicy": "", "volumes": ()}


@each_row("cls", KINDS, ids=lambda cls: cls.kind)
def test_what_is_read_is_written_again(cls: type[Object]) -> None:
    """Whatever of a kind's fields is said, and whatever else; and it is the same object then."""

    @settings(OFTEN, max_examples=100 if cls is Pod else 15)
    @given(trees_of(cls).map(lambda tree: headed(cls, tree)))
    def it_is(tree: dict[str, Any]) -> None:
        item = from_tree(cls, tree)
        assert to_tree(item) == tree
        assert from_tree(cls, decode(encode(to_tree(item)))) == item
        assert from_tree(cls, frozen(tree)) == item
        assert hash(item) == hash(from_tree(cls, tree))

    it_is()


@each_row("cls", KINDS, ids=lambda cls: cls.kind)
def test_what_is_settled_says_all_else(cls: type[Object]) -> None:
    """No field changes, what is not modelled is kept, and there is nothing more to settle."""

    @settings(OFTEN, max_examples=100 if cls is Pod else 15)
    @given(trees_of(cls).map(lambda tree: headed(cls, tree)))
    def it_does(tree: dict[str, Any]) -> None:
        item = from_tree(cls, tree)
        bare = settled(item)
        assert attrs.evolve(bare, extra=item.extra) == item
        assert list(unmodelled(cls, bare.extra)) == list(unmodelled(cls, item.extra))
        assert settled(from_tree(cls, to_tree(bare))) == from_tree(cls, to_tree(bare)) == bare

    it_does()


def wrongs(cls: type, path: str) -> list[tuple[str, Any, str]]:
    """For each field of a class, at any depth: its path, a tree that is wrong there, and what was
    expected of it."""
    found: list[tuple[str, Any, str]] = []
    base = {f.wire_name: right(f.shape) for f in fields_of(cls) if f.is_required}
    for field in fields_of(cls):
        here, shape = f"{path}.{field.wire_name}".removeprefix("."), field.shape
        wrong: Any = 5 if shape.expected in ("a text", "a mapping", "a list") else {}
        bad: Any
        for bad in (wrong, 5.5 if "amount" not in shape.expected else [], [[]]):
            found.append((here, {**base, field.wire_name: bad}, shape.expected))
            if shape.expected == "a list":
                break
        for below, tree, expected in deeper(shape, here):
            found.append((below, {**base, field.wire_name: tree}, expected))
    return found


def deeper(shape: Shape, path: str) -> list[tuple[str, Any, str]]:
    """The same for what is within a field."""
    cls = getattr(shape.read, "args", (None,))[0]
    if cls is not None:
        return wrongs(cls, path)
    if shape.expected == "a list":
        item = inner(shape)
        plain = [(f"{path}[1]", [right(item), [[]]], item.expected)]
        return plain + [
            (f"{below}", [tree], expected) for below, tree, expected in deeper(item, f"{path}[0]")
        ]
    if shape.expected == "a mapping":
        return [(f"{path}.k", {"k": [[]]}, inner(shape).expected)]
    return []


def right(shape: Shape) -> Any:
    """A tree that fits a shape."""
    cls = getattr(shape.read, "args", (None,))[0]
    if cls is not None:
        return {f.wire_name: right(f.shape) for f in fields_of(cls) if f.is_required}
    return {"a list": [], "a mapping": {}, "a whole number": 1}.get(
        shape.expected, "2025-01-01T00:00:00Z" if "time" in shape.expected else "1"
    )


@each_row("cls", KINDS, ids=lambda cls: cls.kind)
def test_each_field_of_the_wrong_type_is_named(cls: type[Object]) -> None:
    """At any depth: where it stands, what was expected, what was found; all of it in one line."""
    tried = wrongs(cls, "")
    for path, tree, expected in tried:
        with pytest.raises(Misfit) as raised:
            from_tree(cls, tree)
        assert (raised.value.path, raised.value.expected) == (path, expected)
        text = str(raised.value)
        assert text == f"{path}: expected {expected}, found {shown(raised.value.found)}"
    assert len(tried) > 20


@each_row(
    ("tree", "text"),
    [
        (None, "the object: expected a mapping, found nothing"),
        ([], "the object: expected a mapping, found a list"),
        ({}, "metadata: expected a mapping, found nothing"),
        (
            {"metadata": {"name": "p", "labels": {"a": 1}}},
            "metadata.labels.a: expected a text, found 1",
        ),
        (
            {"metadata": {"ownerReferences": [{"kind": "Job", "name": "j", "uid": "u"}]}},
            "metadata.ownerReferences[0].apiVersion: expected a text, found nothing",
        ),
        (
            {"metadata": {}, "spec": {"priority": True}},
            "spec.priority: expected a whole number, found true",
        ),
        (
            {"metadata": {}, "spec": {"priority": 2**63}},
            "spec.priority: expected a whole number, found 9223372036854775808",
        ),
        (
            {"metadata": {}, "spec": {"priority": 10**9999}},
            "spec.priority: expected a whole number, found a number of more than 64 bits",
        ),
        (
            {"metadata": {"creationTimestamp": "today" * 50}},
            "metadata.creationTimestamp: expected a time such as 2025-01-01T00:00:30Z, found "
            f"'{'today' * 11}t…",
        ),
        (
            {"metadata": {"resourceVersion": 7}},
            "metadata.resourceVersion: expected a text, found 7",
        ),
        (
            {"metadata": {}, "spec": {"overhead": {"cpu": "many"}}},
            "spec.overhead.cpu: expected an amount such as 500m, 1Gi or 2, found 'many'",
        ),
    ],
)
def test_a_misfit_is_told_in_one_line(tree: Any, text: str) -> None:
    """In the words of a manifest, however long what was found is."""
    with pytest.raises(Misfit) as raised:
        from_tree(Pod, tree)
    assert str(raised.value) == text


def nested(depth: int) -> Any:
    """Lists in lists."""
    tree: Any = 1
    for _ in range(depth):
        tree = [tree]
    return tree


def looped() -> Any:
    """A mapping that holds itself."""
    tree: dict[str, Any] = {}
    tree["again"] = tree
    return tree


@each_row(
    ("where", "bad", "expected"),
    [
        ("spec", {"later": nested(100_000)}, f"at most {DEPTH_MAX} levels"),
        ("later", looped(), f"at most {DEPTH_MAX} levels"),
        ("spec", {1: 2}, "a text for each name"),
        ("spec", {"nodeSelector": {True: "x"}}, "a text for each name"),
        ("later", {"a": {None: 1}}, "a text for each name"),
        ("later", [{("a",): 1}], "a text for each name"),
        ("later", {"a": float("nan")}, "what JSON can say"),
        ("later", [b"bytes"], "what JSON can say"),
        ("later", {"a": {1, 2}}, "what JSON can say"),
        ("later", ["\ud800"], "a text without half a letter"),
        ("spec", {"nodeName": "\udfff"}, "a text without half a letter"),
    ],
)
def test_a_hostile_tree_is_a_misfit(where: str, bad: Any, expected: str) -> None:
    """Too deep, a loop, a name that is no text, a value that no JSON can say."""
    with pytest.raises(Misfit) as raised:
        from_tree(Pod, {"metadata": {"name": "p"}, where: bad})
    assert raised.value.expected == expected
    assert raised.value.path.startswith(where)
    assert len(str(raised.value)) < 1000


def test_a_tree_as_deep_as_is_allowed_is_kept() -> None:
    """The bound is one on what nothing tells the form of, not off by one."""
    tree = {"metadata": {"name": "p", "namespace": "x"}, "later": nested(DEPTH_MAX)}
    assert to_tree(from_tree(Pod, tree))["later"] == nested(DEPTH_MAX)


def test_a_huge_tree_is_read_in_one_walk() -> None:
    """Thousands of labels, of unknown names and of conditions: each is looked at once."""
    many = {f"k{n}": "" for n in range(10_000)}
    tree = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "x", "labels": many, "later": many},
        "status": {
            "conditions": [{"type": f"t{n}", "status": "", "more": n} for n in range(10_000)]
        },
    }
    assert to_tree(from_tree(Pod, tree)) == tree


json_like = st.recursive(
    leaves | st.none() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = ["metadata", "spec", "status", "labels", "containers", "conditions", "name", "priority"]
near = st.recursive(
    json_like,
    lambda inner: (
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=4) | st.lists(inner, max_size=2)
    ),
    max_leaves=10,
)


@settings(OFTEN, max_examples=80)
@given(near)
def test_any_tree_at_all_is_an_object_or_a_misfit(tree: Any) -> None:
    """And if it is one, it is written as what reads as the same."""
    try:
        pod = from_tree(Pod, tree)
    except Misfit as misfit:
        told = str(misfit)
    else:
        told = "" if from_tree(Pod, to_tree(pod)) != pod else pod.key
    assert told


@attrs.frozen
class Odd:
    """A class with each way a field may be declared."""

    both: int | str | None = None
    some: Any = attrs.field(default=None, metadata=wire("odd-name"))
    fine_ms: int | None = attrs.field(default=None, metadata=wire("fine", "fine time"))
    flag: bool = attrs.field(default=False, metadata=wire(always=True))


def test_a_field_may_say_how_it_is_written() -> None:
    """Under which name, as what, and whether always; a number or a text or nothing is a type."""
    assert to_tree(Odd()) == {"flag": False}
    for both in (0, "0", "50%"):
        odd = Odd(both, Map(a=(1,)), 250, flag=True)
        tree = to_tree(odd)
        assert tree == {
            "both": both,
            "odd-name": {"a": [1]},
            "fine": "2025-01-01T00:00:00.250000Z",
            "flag": True,
        }
        assert from_tree(Odd, tree) == odd
    assert [wire_name_of(name) for name in ("a", "node_name", "a_b_c")] == ["a", "nodeName", "aBC"]


@attrs.frozen
class Unwritable:
    """A class with a field that has no form."""

    when: complex = 0j
    plural: ClassVar[str] = "x"


def test_a_type_without_a_form_is_refused() -> None:
    """When the class is first written, and named."""
    with pytest.raises(TypeError, match=r"complex.* has no form on the wire"):
        to_tree(Unwritable())
