"""The wire form against the official Python client: what it writes is read, and written again.

Its models are made from the API's own description, so each name and type in them is Kubernetes'.
Three things are as an API server would have them, since it writes them so whoever sent them:
quantities are canonical, times end in `Z` where the client writes `+00:00`, and the counts of a
budget are all there if any is.
"""

from __future__ import annotations

import json
import re
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes import client

from testbed.objects import (
    Binding,
    ConfigMap,
    DaemonSet,
    Deployment,
    Event,
    Eviction,
    Job,
    Lease,
    Namespace,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Scale,
    StatefulSet,
)
from testbed.objects.codec import decode, encode
from testbed.objects.form import from_tree, to_tree
from tests.each_row import each_row

WHOLE = (Pod, Node, PodDisruptionBudget, PriorityClass)
"""Kinds of which every field that the client knows is kept."""
EVERY: tuple[type[Object], ...] = (
    *WHOLE, Binding, ConfigMap, DaemonSet, Deployment, Event, Eviction, Job, Lease, Namespace,
    ReplicaSet, ReplicationController, ResourceQuota, Scale, StatefulSet,
)  # fmt: skip
AMOUNTS = (
    *("requests", "limits", "overhead", "capacity", "allocatable", "allocated_resources"),
    *("hard", "used"),
)
"""The names of fields that are mappings of quantities."""
TIME = "2025-01-01T00:00:07+00:00"
SAMPLES: dict[str, list[Any]] = {
    "str": ["a", "", "b c"],
    "int": [7, 0, -1],
    "bool": [True, False],
    "float": [1.5, 0.0],
    "object": [1, "50%", 0],
    "datetime": [TIME, "2024-12-31T23:59:59+00:00"],
    "bytes": ["AA=="],
    "fields": [{"f:spec": {".": {}, "f:containers": {}}}],
    "amount": ["500m", "1Gi", "0", "10e3"],
}
FIELDS = ("fields_v1", "all", "single", "basic")
"""The names of fields that are mappings of anything."""
COUNTS = {"disruptions_allowed", "current_healthy", "desired_healthy", "expected_pods"}


def model(cls: type[Object]) -> Any:
    """The client's class for a kind; it is loaded when it is first asked for."""
    return getattr(client, f"{'CoreV1' if cls is Event else 'V1'}{cls.kind}")


def written(made: Any) -> Any:
    """The JSON that the client sends, as a server would have it."""
    api: Any = client.ApiClient()
    text = json.dumps(api.sanitize_for_serialization(made))
    return decode(text.replace("+00:00", "Z").encode())


def assert_kept(cls: type[Object], tree: Any) -> None:
    """From bytes to an object and back: the same tree, and the same bytes."""
    line = encode(tree)
    item = from_tree(cls, decode(line))
    assert to_tree(item) == tree
    assert encode(to_tree(item)) == line
    assert hash(item) == hash(from_tree(cls, tree))


def headed(cls: type[Object], given_: dict[str, Any]) -> dict[str, Any]:
    """What any object of the kind says of itself."""
    meta = {**(given_.get("metadata") or {}), "name": "a"}
    meta["namespace"] = "x" if cls.is_namespaced else None
    return {**given_, "api_version": cls.api_version, "kind": cls.kind, "metadata": meta}


def model_of(kind: str) -> Any:
    """The client's class for a type it names, or None if that is a plain one."""
    return None if kind in SAMPLES else getattr(client, kind)


def said_of(name: str, kind: str) -> str:
    """What stands in a field of that name, where its type says too little."""
    if name in AMOUNTS and kind == "str":
        return "amount"
    return "fields" if name in FIELDS else kind


def full(kind: str, name: str = "") -> Any:
    """A value of a type with every field of every model in it set, all the way down."""
    if found := re.fullmatch(r"List\[(.*)\]", kind):
        return [full(found[1], name)]
    if found := re.fullmatch(r"Dict\[str, (.*)\]", kind):
        return {"k": full(said_of(name, found[1]))}
    part = model_of(kind)
    if part is None:
        return SAMPLES[said_of(name, kind)][0]
    return {field: full(of, field) for field, of in part.openapi_types.items()}


@each_row("cls", WHOLE, ids=lambda cls: cls.kind)
def test_every_field_the_client_knows_is_kept(cls: type[Object]) -> None:
    """One object of each kind with every field of it set, at every depth: thousands, of a Pod."""
    given_ = headed(cls, full(model(cls).__name__))
    tree = written(model(cls)(**given_))
    named = model(cls).attribute_map.values()
    assert set(tree) == set(named)
    assert_kept(cls, tree)
    assert encode(tree).count(b":") > (1500 if cls is Pod else 10)


def unset(value: Any, path: str) -> list[str]:
    """The fields within a value that have nothing to say."""
    if attrs.has(type(value)):
        fields = [field.name for field in attrs.fields(type(value)) if field.name != "extra"]
        return [each for name in fields for each in unset(getattr(value, name), f"{path}.{name}")]
    if isinstance(value, tuple) and value:
        return [each for n, one in enumerate(value) for each in unset(one, f"{path}[{n}]")]
    return [] if value else [path]


@pytest.mark.spec("API-58", "API-59", "API-60")
@each_row("cls", EVERY, ids=lambda cls: cls.kind)
def test_every_field_of_ours_is_one_of_the_clients(cls: type[Object]) -> None:
    """Under the same name and of the same type: given a value for each of its own, each of ours
    has one, at every depth; but only a Node's conditions have a heartbeat."""
    given_ = headed(cls, full(model(cls).__name__))
    given_["metadata"]["namespace"] = "x"
    item = from_tree(cls, written(model(cls)(**given_)))
    bare = [path for path in unset(item, cls.kind) if not path.endswith("].heartbeat_ms")]
    assert bare == []
    assert cls is not Node or unset(item, cls.kind) == []


@st.composite
def drawn(draw: st.DrawFn, kind: str, name: str = "") -> Any:
    """A value of a type: what a model must have, and a few of the fields that it may."""
    if found := re.fullmatch(r"List\[(.*)\]", kind):
        return draw(st.lists(drawn(found[1], name), max_size=2))
    if found := re.fullmatch(r"Dict\[str, (.*)\]", kind):
        inner = drawn(said_of(name, found[1]))
        return draw(st.dictionaries(st.sampled_from(["k", "a/b"]), inner, max_size=2))
    part = model_of(kind)
    if part is None:
        return draw(st.sampled_from(SAMPLES[said_of(name, kind)]))
    must = {field for field, about in part.model_fields.items() if about.is_required()}
    must |= COUNTS & set(part.openapi_types)
    may = draw(st.lists(st.sampled_from(list(part.openapi_types)), max_size=4))
    return {
        field: draw(drawn(of, field))
        for field, of in part.openapi_types.items()
        if field in must or field in may
    }


@each_row("cls", WHOLE, ids=lambda cls: cls.kind)
def test_whatever_the_client_writes_is_kept(cls: type[Object]) -> None:
    """Drawn through its models: what is absent, empty or zero is so again."""
    top = model(cls).openapi_types

    @settings(max_examples=25, derandomize=True, deadline=None)
    @given(
        st.fixed_dictionaries(
            {name: drawn(of, name) for name, of in top.items() if name not in ("kind",)}
        )
    )
    def it_is(given_: dict[str, Any]) -> None:
        assert_kept(cls, written(model(cls)(**headed(cls, given_))))

    it_is()


def test_the_client_reads_what_is_written() -> None:
    """The other way: an object of ours, read by its model, says the same."""
    pod = Pod.of("team/web", cpu_m=500, memory=2**30, node_name="n1", labels={"app": "web"})
    pod = pod.with_meta(created_ms=7000)
    for item in (pod, Node.of("n1", cpu_m=4000, memory=2**33), PriorityClass("p", value=5)):
        tree = to_tree(item)
        assert written(model(type(item)).from_dict(tree)) == tree
