"""Clients that apply, patch, scale and delete the same things at once, and what holds whenever."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from actors.apiserver.verbs.field_sets import values_of
from actors.apiserver.verbs.ownership import owners_of
from testbed import Actor, ApiError, Client, Conflict, Operation, Uniform, World
from testbed.objects import Map, Pod, ReplicaSet, Scale, ScaleSpec
from testbed.objects.form import to_tree
from testbed.objects.plain import frozen
from testbed.store.selector import Selector
from tests.each_row import each_row
from tests.models.counter import Counter, finish, step

ALL = Selector(namespace="default")


def applying(by: str, labels: dict[str, str], kind: type[Any] = ReplicaSet) -> Operation:
    """The request to apply these labels to `web`, and all that it takes to make it."""
    meta: Any = {"name": "web", "labels": labels}
    tree: Any = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
    if kind is Pod:
        tree["spec"] = {"containers": [{"name": "main"}]}
    options = Map(field_manager=by, force=False, how="apply")
    return Operation("patch", kind.plural, "web", "default", frozen(tree), options=options)


@attrs.frozen
class Sharer(Actor):
    """Applies a label of its own, scales, patches, and at last deletes all there is."""

    async def run(self, client: Client) -> None:
        web = ReplicaSet("web")
        scale = Scale("web", spec=ScaleSpec(len(self.name)))
        for operation in (
            applying(self.name, {self.name: "1"}),
            applying(self.name, {self.name: "1"}, Pod),
            Operation("update", "replicasets", "web", "default", scale, subresource="scale"),
            applying(self.name, {self.name: "2"}),
            applying(self.name, {}, Pod),
        ):
            with suppress(ApiError):
                await client.ask(operation)
        with suppress(ApiError):
            await client.patch(web, {"metadata": {"labels": {"last": self.name}}})
        with suppress(ApiError):
            await client.ask(Operation("deletecollection", "pods", "", "default", selector=ALL))


@pytest.mark.spec("API-65", "API-67", "API-68")
@each_row("seed", range(8))
def test_the_protocol_holds_whoever_comes_first(seed: int) -> None:
    """Each keeps its own label, the scale is the last one's, and no pod is left."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.start(Sharer("ann"), Sharer("robert"))
    world.claim(*protocol_claims())
    verdict = world.run(Uniform(seed))
    assert verdict.is_held, str(verdict)
    entry: Any = world.store.peek("replicasets/default/web")
    labels = entry.value.meta.labels
    assert {name: labels[name] for name in ("ann", "robert")} == {"ann": "2", "robert": "2"}
    assert entry.value.spec.replicas in (3, 6)
    assert world.store.peek("pods/default/web") is None


texts = st.sampled_from(["1", "2"])
named = st.sampled_from(["a", "b"])
pairs = st.dictionaries(named, texts)


def drawn(**fields: Any) -> Any:
    """A list of items with a name each, and any of these fields."""
    item = st.fixed_dictionaries({"name": named}, optional=fields)
    return st.lists(item, unique_by=lambda each: str(each["name"]))


containers = drawn(image=texts, env=drawn(value=texts), args=st.lists(texts))
trees = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {}, optional={"labels": pairs, "finalizers": st.lists(named, unique=True)}
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "replicas": st.integers(0, 2),
                "template": st.fixed_dictionaries(
                    {"spec": st.fixed_dictionaries({"containers": containers},
                                                   optional={"nodeSelector": pairs})}
                ),
            },
        ),
    },
)  # fmt: skip


@pytest.mark.spec("API-65", "API-66")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(["ann", "bob"]), trees, st.booleans()), max_size=8))
def test_whatever_is_applied(said: list[tuple[str, Any, bool]]) -> None:
    """All that was said is so, and is owned by who said it; to say it again is no write. A refusal
    leaves all as it was. When all have said nothing, nothing is left of what they said."""
    counter = Counter()
    # Where nobody owns anything there is no record, and the next apply makes one of all there is.
    base: Any = {"metadata": {"annotations": {"made": "here"}}}
    for by, tree, force in [("eve", base, True), *said, ("ann", {}, True), ("bob", {}, True)]:
        given = {"apiVersion": "apps/v1", "kind": "ReplicaSet", **tree}
        options = Map(field_manager=by, force=force, how="apply")
        operation = Operation("patch", "replicasets", "web", "default", frozen(given),
                              options=options)  # fmt: skip
        before = counter.store.revision
        try:
            item = counter.ask(operation)
        except Conflict:
            assert not force
            assert counter.store.revision == before
            continue
        there, before = values_of(to_tree(item)), counter.store.revision
        assert counter.ask(operation) == item
        assert counter.store.revision == before
        wanted = {path: value for path, value in values_of(tree).items() if value not in ({}, [])}
        assert {path: there.get(path) for path in wanted} == wanted
        mine = [owned for who, owned in owners_of(item).items() if who.name == by]
        assert not wanted or set(wanted) <= mine[0].paths
    bare = counter.ask(Operation("get", "replicasets", "web", "default"))
    assert [who.name for who in owners_of(bare)] == ["eve"]
    assert (bare.meta.labels, bare.meta.finalizers, bare.spec.replicas) == ({}, (), 1)
    assert "nodeSelector" not in bare.extra.get("spec", {}).get("template", {}).get("spec", {})
    assert bare.spec.template.spec.containers == ()


@pytest.mark.spec("API-68")
def test_a_collection_is_what_was_there_at_first() -> None:
    """One that is gone by then is passed over, one that has come since stays; but what has taken a
    name that was listed goes."""
    counter = Counter()
    for name in ("a", "b", "c"):
        counter.create(Pod.of(name))
    handler = counter.begin(Operation("deletecollection", "pods", "", "default", selector=ALL))
    step(handler)
    counter.delete(Pod.of("b"))
    counter.delete(Pod.of("c"))
    counter.create(Pod.of("c"))
    counter.create(Pod.of("d"))
    listed = finish(handler)
    assert [pod.meta.name for pod in listed.items] == ["a", "b", "c"]
    left: list[Any] = [entry.value for entry in counter.store.snapshot("pods/")]
    assert [pod.meta.name for pod in left] == ["d"]
