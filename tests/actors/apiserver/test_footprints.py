"""What an API server says it may touch, against what each part of each of its verbs does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from actors.apiserver import ApiServer
from actors.apiserver.server import VERBS
from testbed.errors import ApiError, NotFound
from testbed.objects import (
    UNSET,
    Binding,
    Eviction,
    LabelSelector,
    Map,
    Meta,
    Object,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    QuotaSpec,
    QuotaStatus,
    ReplicaSet,
    ResourceQuota,
    Revision,
    Scale,
    ScaleSpec,
    Target,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.form import to_tree
from testbed.objects.plain import frozen
from testbed.store.endpoint import Handler, Operation
from testbed.store.footprint import Marks
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.watch import Watch
from tests.shared.announced import uncovered

KINDS = (Pod, PriorityClass, ResourceQuota, ReplicaSet, PodDisruptionBudget)
LAGS: list[tuple[str, ...]] = [
    (), ("pods",), ("priorityclasses", "resourcequotas"), tuple(kind.plural for kind in KINDS),
]  # fmt: skip
PATCHES = (
    {"metadata": {"labels": {"app": "web"}}},
    {"metadata": {"finalizers": ["f"]}},
    {"metadata": {"finalizers": None}},
    {"globalDefault": True},
    {"status": {"phase": "Running"}},
)
names = st.sampled_from(["a", "b"])


def item_of(data: DataObject) -> Any:
    """An object of any kind that says one of a few things."""
    name, says = data.draw(names), data.draw(st.booleans())
    match data.draw(st.sampled_from(KINDS)):
        case kind if kind is Pod:
            named = data.draw(st.sampled_from(["", "a", "b"]))
            labels = {"app": "web"} if says else {}
            return Pod.of(name, cpu_m=100, labels=labels, priority_class_name=named)
        case kind if kind is PriorityClass:
            return PriorityClass(name, value=says, global_default=says)
        case kind if kind is ReplicaSet:
            return ReplicaSet(name)
        case kind if kind is ResourceQuota:
            hard, used = Map(pods=3 + says), Map(pods=0)
            return ResourceQuota(name, spec=QuotaSpec(hard), status=QuotaStatus(hard, used))
    return PodDisruptionBudget(
        name,
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(Map(app="web"))),
        status=PodDisruptionBudgetStatus(disruptions_allowed=2, observed_generation=1),
    )


def operation_of(data: DataObject, store: Store) -> Operation:
    """Any Operation of any of the verbs, about what is there or is not."""
    asked = data.draw(st.sampled_from(sorted(VERBS)))
    verb, _, subresource = asked.partition("/")
    item = item_of(data)
    is_pods = subresource in ("binding", "eviction")
    is_odd = subresource == "status" and isinstance(item, PriorityClass)
    if is_pods or is_odd or (verb == "patch" and isinstance(item, PodDisruptionBudget)):
        item = Pod(item.meta.name)
    if subresource == "scale":
        item = ReplicaSet(item.meta.name)
    plural, meta = item.plural, item.meta
    entry = store.peek(item.key)
    is_dated = data.draw(st.booleans()) and entry is not None
    revision = entry.value.meta.revision if entry and is_dated else UNSET  # type: ignore[attr-defined]
    said: dict[str, Any] = {"revision": revision}
    match verb:
        case "list" | "watch":
            return Operation(verb, plural, revision=_point(data, store))
        case "get":
            said = {"revision": _point(data, store)}
        case "patch":
            said = _patch(data, item)
        case "deletecollection":
            chosen = Selector(namespace=meta.namespace or None)
            return Operation(verb, plural, namespace=meta.namespace, selector=chosen)
        case "delete":
            grace = data.draw(st.sampled_from([None, 0, 5]))
            said["options"] = Map() if grace is None else Map(grace_s=grace)
        case _:
            said["body"] = _body(item, subresource)
    return Operation(verb, plural, meta.name, meta.namespace, subresource=subresource, **said)


def _patch(data: DataObject, item: Any) -> dict[str, Any]:
    """A patch, or something to apply, which may make the object."""
    if data.draw(st.booleans()):
        return {"body": Map(data.draw(st.sampled_from(PATCHES)))}
    tree = {name: each for name, each in to_tree(item).items() if name != "metadata"}
    body = frozen({**tree, **data.draw(st.sampled_from([{}, *PATCHES[:2]]))})
    force = data.draw(st.booleans())
    return {"body": body, "options": Map(how="apply", field_manager="ann", force=force)}


def _body(item: Any, subresource: str) -> Object:
    if subresource == "binding":
        return Binding(Meta(item.meta.name, "default"), Target("n1"))
    if subresource == "eviction":
        return Eviction(Meta(item.meta.name, "default"))
    if subresource == "scale":
        return Scale(Meta(item.meta.name, "default"), ScaleSpec(2))
    return item  # type: ignore[no-any-return]


def _point(data: DataObject, store: Store) -> Revision:
    """A revision to read from: none, any, an old one, the present one, or one yet to come."""
    back = data.draw(st.sampled_from([None, "0", 2, 1, 0, -1]))
    return (
        UNSET
        if back is None
        else Revision(back if back == "0" else max(store.revision - int(back), 1))
    )


def served(server: ApiServer, handler: Handler, operation: Operation) -> bool:
    """Play one part of it; whether another one is to come."""
    may = server.may(operation)
    marks = server.store.marks = Marks()
    goes_on, was_refused = True, False
    try:
        next(handler)
    except StopIteration as done:
        goes_on = False
        if isinstance(done.value, Watch):
            done.value.close()
    except ApiError:
        goes_on, was_refused = False, True
    did = marks.footprint()
    assert not uncovered(did, may), operation
    assert len(marks.changes) <= 1, operation
    assert not (was_refused and marks.changes), operation
    return goes_on


@given(st.data())
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_what_each_part_of_a_request_does_it_has_announced(data: DataObject) -> None:
    """Whatever is asked, however it ends, and whatever comes between its parts: `may` covers
    `did`, and no part makes more than one commit, nor one if it refuses."""
    server = ApiServer(Store(Marks()), lags=data.draw(st.sampled_from(LAGS)))
    halves: list[tuple[Handler, Operation]] = []
    for _ in range(data.draw(st.integers(5, 20))):
        if data.draw(st.integers(0, 5)) == 0:
            for cursor in server.cursors.values():
                cursor.advance()
        if halves and data.draw(st.sampled_from([0, 1])):
            handler, operation = halves.pop(0)
        else:
            operation = operation_of(data, server.store)
            handler = server.handle(operation, "alpha", 1000)
        if served(server, handler, operation):
            halves.append((handler, operation))


def test_what_a_kind_does_not_have_is_not_found() -> None:
    """A class has no status, only pods are bound and evicted, and some kinds are unknown."""
    server = ApiServer(Store())
    for asked in (
        Operation("patch", "priorityclasses", "a", body=Map(), subresource="status"),
        Operation("create", "resourcequotas", "a", "default", subresource="binding"),
        Operation("create", "nodes", "a", subresource="eviction"),
        Operation("get", "pods", "a", "default", subresource="log"),
        *(Operation(verb, "podz", "a", "default") for verb in ("get", "list", "watch", "delete")),
        Operation("create", "podz", "p", "default", Pod.of("p")),
        Operation("update", "podz", "p", "default", Pod.of("p"), subresource="status"),
    ):
        server.may(asked)
        with pytest.raises(NotFound, match="could not find the requested resource"):
            server.handle(asked, "alpha", 0)


def test_what_is_gone_and_was_read_is_announced() -> None:
    """A server that lags charges a quota that is deleted, and so looks whether it is there."""
    server = ApiServer(Store(Marks()), lags=("resourcequotas",))
    hard = Map(pods=3)
    quota = ResourceQuota("q", spec=QuotaSpec(hard), status=QuotaStatus(hard, Map(pods=0)))
    server.store.put(quota.key, quota)
    server.cursor("resourcequotas")
    server.store.delete(quota.key)
    operation = Operation("create", "pods", "p", "default", Pod.of("p"))
    handler = server.handle(operation, "alpha", 0)
    for _ in range(2):
        assert served(server, handler, operation)
    assert quota.key in server.store.marks.reads  # type: ignore[union-attr]


def test_the_first_look_of_a_server_that_lags_is_announced_with_what_follows() -> None:
    """Where it had read nothing yet it begins to, and charges the quota in the same part."""
    store = Store(Marks())
    hard, used = Map(pods=3), Map(pods=0)
    quota = ResourceQuota("q", spec=QuotaSpec(hard), status=QuotaStatus(hard, used))
    store.put(quota.key, quota.with_meta(revision=Revision(store.revision + 1)))
    server = ApiServer(store, lags=("resourcequotas",))
    operation = Operation("create", "pods", "p", "default", Pod.of("p", cpu_m=100))
    handler = server.handle(operation, "alpha", 0)
    tails = []
    while served(server, handler, operation):
        tails += [key for key in store.marks.writes if key.endswith("/tail")]  # type: ignore[union-attr]
    assert tails == ["cursor:api/resourcequotas/tail"]
