"""An Operation and the line it writes of itself: what is read back means the same."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.objects import (
    Binding,
    ConfigMap,
    DeleteOptions,
    Event,
    Eviction,
    Lease,
    LeaseSpec,
    Map,
    Meta,
    Node,
    Object,
    Owner,
    Pod,
    Preconditions,
    Quantity,
    Reference,
    Revision,
    Target,
    Toleration,
)
from testbed.objects.form import from_tree
from testbed.objects.kinds import KINDS
from testbed.objects.labels import parse
from testbed.store.endpoint import Operation
from testbed.store.retold import operation_from
from testbed.store.selector import Selector
from tests.each_row import each_row

META = Meta("p", "shop", "u-1", Revision(7), 1000, Map(a="1"), Map(b="2"), owners=(
    Owner("v1", "Pod", "o", "u-2", controller=True),
), finalizers=("x", "y"))  # fmt: skip
TREE = {
    "metadata": {"name": "p", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {"name": "main", "resources": {"requests": {"cpu": "1500m", "memory": "64Gi"}},
             "volumeMounts": [{"name": "data", "mountPath": "/data"}]},
        ],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}},
        "volumes": [{"name": "data", "emptyDir": {}}],
    },
}  # fmt: skip
POD = from_tree(Pod, TREE)
PATCH = Map(
    metadata=Map(resourceVersion="7", labels=Map(a=None)),
    status=Map({"conditions": (Map(type="Ready", status="True"),), "$setElementOrder": ()}),
)
STEPS = (Map(op="replace", path="/spec/priority", value=3), Map(op="remove", path="/x"))
OPERATIONS = {
    "get": Operation("get", "pods", "p", "shop", revision=Revision("0")),
    "list": Operation(
        "list", "pods", revision=Revision(5), options=Map({"limit": 500, "match": "Exact"}),
        selector=Selector("shop", "p", (("spec.node_name", "n"), ("spec.unschedulable", True)),
                          (("status.phase", "Failed"),), parse("app in (a,b),!old")),
    ),
    "a list of some fields": Operation("list", "pods", options=Map(fields=("spec", "status"))),
    "watch": Operation("watch", "pods", revision=Revision(5), options=Map(bookmarks=True)),
    "create": Operation("create", "pods", "p", "shop", POD),
    "bind": Operation(
        "create", "pods", "p", "shop", Binding(META, target=Target("n1")), subresource="binding"
    ),
    "evict": Operation(
        "create", "pods", "p", "shop", subresource="eviction",
        body=Eviction(META, delete_options=DeleteOptions(
            0, Preconditions("u", Revision(3)), "Orphan", ("All",))),
    ),
    "create an Event": Operation(
        "create", "events", "e", "shop",
        Event(META, involved=Reference("v1", "Pod", "p"), related=Reference(name="n"), event_ms=5),
    ),
    "update": Operation(
        "update", "leases", "l", "shop", Lease(META, spec=LeaseSpec("a", 15, 1, 2, 3)),
        Revision(7),
    ),
    "update of a status": Operation("update", "pods", "p", "shop", POD, subresource="status"),
    "merge": Operation("patch", "pods", "p", "shop", PATCH, options=Map(how="merge")),
    "json patch": Operation("patch", "pods", "p", "shop", STEPS, options=Map(how="json")),
    "apply": Operation(
        "patch", "pods", "p", "shop", PATCH,
        options=Map(how="apply", field_manager="kubectl", force=True),
    ),
    "delete": Operation(
        "delete", "pods", "p", "shop", revision=Revision(4), uid="u",
        options=Map(grace_s=0, propagation="Foreground"), endpoint="api-2",
    ),
}  # fmt: skip


@each_row("asked", OPERATIONS.values(), ids=list(OPERATIONS))
def test_an_operation_is_read_back_from_its_line(asked: Operation) -> None:
    """Equal, of the same types all through, and writing the same line again."""
    again = operation_from(asked.line())
    assert again == asked
    assert type(again.body) is type(asked.body)
    assert hash(again) == hash(asked)
    assert again.line() == asked.line()


@each_row("kind", KINDS, ids=lambda kind: kind.kind)
def test_any_kind_is_read_back(kind: type[Object]) -> None:
    """Each kind of object that can be written, with its Meta."""
    item = kind(META)
    assert operation_from(Operation("create", kind.plural, "p", "shop", item).line()).body == item


def test_large_amounts_and_tuples_in_maps_are_read_back() -> None:
    """What JSON has no type of its own for."""
    node = Node.of("n", cpu_m=1000)
    room = Map(memory=Quantity.parse("8Ei"))
    tolerant = from_tree(Pod, {"metadata": {"name": "p"}, "spec": {"tolerations": [{"key": "k"}]}})
    assert tolerant.spec.tolerations == (Toleration("k"),)
    for item in (node, from_tree(Node, {"metadata": {"name": "n"}, "status": {"capacity": {
            "memory": str(room["memory"])}}}), tolerant, ConfigMap("c")):  # fmt: skip
        asked = Operation("create", item.plural, item.meta.name, item.meta.namespace, item)
        assert operation_from(asked.line()) == asked


@each_row(
    "line",
    ["", "[]", "{}", "7", '{"verb":"create"}', OPERATIONS["create"].line().replace("pods", "pots")],
)
def test_no_line_of_an_operation_is_a_value_error(line: str) -> None:
    """Cut short, of something else, or of a kind that is not known."""
    with pytest.raises(ValueError, match=r"."):
        operation_from(line)


def test_a_line_without_a_field_is_refused() -> None:
    """A body that lacks a field of its class was written by another version."""
    line: Any = OPERATIONS["bind"].line().replace('"target":', '"goal":')
    with pytest.raises(ValueError, match="no line of an Operation"):
        operation_from(line)
