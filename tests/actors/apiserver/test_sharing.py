"""Clients that apply, patch, scale and delete the same things at once, and what holds whenever."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs
import pytest
from counter import Counter, finish, step

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from testbed import Actor, ApiError, Client, Operation, Uniform, World
from testbed.objects import Map, Pod, ReplicaSet, Scale, ScaleSpec
from testbed.objects.plain import frozen
from testbed.store.selector import Selector

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
@pytest.mark.parametrize("seed", range(8))
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
