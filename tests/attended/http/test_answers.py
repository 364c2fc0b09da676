"""What is answered, from the HTTP request to the bytes, as the official Python client reads it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from kubernetes.client import ApiClient

from testbed.attended.http.accept import PARTIAL as PARTIAL_OBJECT
from testbed.attended.http.answer_form import AnswerForm
from testbed.attended.http.answers import line_of, refused, written
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.meaning import meaning_of
from testbed.attended.http.place import CLASSES, place_of
from testbed.errors import (
    ApiError,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
    TimedOut,
    TooManyRequests,
)
from testbed.objects.codec import decode, encode
from testbed.objects.meta import LOOKED
from testbed.objects.pod import Pod
from testbed.store.delivery import ADDED, MODIFIED, Delivery
from testbed.store.endpoint import answer_at_once
from tests.attended.door import Door
from tests.each_row import each_row

CORE, EVENTS = "/api/v1", "/apis/events.k8s.io/v1"
PODS, PDBS = f"{CORE}/namespaces/shop/pods", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets"
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
PARTIAL = {"accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
MODELS = {"Event": "CoreV1Event"}
"""What the Python client calls a kind of its own, if that is not `V1` and the kind."""


def as_client(tree: Any, model: str) -> Any:
    """The tree as the Python client reads it."""
    return ApiClient().deserialize(encode(tree).decode(), model, "application/json")


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    """A pod as a client sends it."""
    spec = {"containers": [{"name": "main", "image": "app"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def bind(door: Door, name: str = "p", node: str = "n1") -> tuple[int, Any]:
    """Bind a pod, as a scheduler does."""
    target = {"kind": "Node", "name": node}
    return door.told(
        "POST", f"{PODS}/{name}/binding", {"metadata": {"name": name}, "target": target}
    )


# -- what was done ------------------------------------------------------------------------------


@each_row("place", CLASSES, ids=lambda place: "/".join(place))
def test_any_kind_is_created_read_and_listed(place: tuple[str, str]) -> None:
    """201 and then 200, each with its kind and version; items of a list go without."""
    version, plural = place
    cls, door = CLASSES[place], Door()
    root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    url = f"{root}/namespaces/shop/{plural}" if cls.is_namespaced else f"{root}/{plural}"
    sent = {"metadata": {"name": "x"}, **SPECS.get(cls.kind, {})}
    code, made = door.told("POST", url, sent)
    assert (code, made["kind"], made["apiVersion"]) == (201, cls.kind, version)
    code, read = door.told("GET", f"{url}/x")
    assert (code, read) == (200, made)
    model = "EventsV1Event" if "events.k8s.io" in version else MODELS.get(cls.kind, f"V1{cls.kind}")
    assert as_client(read, model).metadata.uid == made["metadata"]["uid"]
    code, listed = door.told("GET", f"{root}/{plural}")
    assert (listed["kind"], listed["apiVersion"]) == (f"{cls.kind}List", version)
    assert [each["metadata"]["name"] for each in listed["items"]] == ["x"]
    assert all("kind" not in each and "apiVersion" not in each for each in listed["items"])


TEMPLATE = {
    "selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]},
}
JOB = {"template": {**TEMPLATE["template"], "spec": {**pod()["spec"], "restartPolicy": "Never"}}}
SPECS: dict[str, Any] = {
    "Pod": {"spec": pod()["spec"]},
    "DaemonSet": {"spec": TEMPLATE},
    "Deployment": {"spec": TEMPLATE},
    "Job": {"spec": JOB},
    "ReplicaSet": {"spec": TEMPLATE},
    "StatefulSet": {"spec": {**TEMPLATE, "serviceName": "x"}},
    "PriorityClass": {"value": 1},
    "Event": {"eventTime": "2025-01-01T00:00:01.000000Z"},
}
"""By kind, what an object of it cannot be without."""


def test_a_pod_is_bound_and_a_second_bind_refused() -> None:
    """A Status either way."""
    door = Door()
    door.ask("POST", PODS, pod())
    code, status = bind(door)
    assert (code, status["kind"], status["status"]) == (201, "Status", "Success")
    assert door.told("GET", f"{PODS}/p")[1]["spec"]["nodeName"] == "n1"
    code, status = bind(door, node="n2")
    assert (code, status["reason"], status["code"]) == (409, "Conflict", 409)
    assert status["details"] == {"name": "p", "kind": "pods"}
    assert as_client(status, "V1Status").details.name == "p"


def test_a_deleted_pod_is_shown_and_of_other_kinds_a_status_says_so() -> None:
    """A pod with grace is still there; one that is gone is shown all the same, as in 1.26."""
    door = Door()
    door.ask("POST", PODS, pod())
    bind(door)
    code, marked = door.told("DELETE", f"{PODS}/p", {"kind": "DeleteOptions", "apiVersion": "v1"})
    assert (code, marked["kind"]) == (200, "Pod")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    code, gone = door.told("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
    assert (code, gone["kind"]) == (200, "Pod")
    assert door.told("GET", f"{PODS}/p")[0] == 404
    uid = door.told("POST", PDBS, {"metadata": {"name": "b"}})[1]["metadata"]["uid"]
    code, status = door.told("DELETE", f"{PDBS}/b")
    assert (code, status["status"]) == (200, "Success")
    assert status["details"] == {
        "name": "b", "group": "policy", "kind": "poddisruptionbudgets", "uid": uid,
    }  # fmt: skip
    held = {"metadata": {"name": "b", "finalizers": ["x/y"]}}
    door.ask("POST", PDBS, held)
    assert door.told("DELETE", f"{PDBS}/b")[1]["kind"] == "PodDisruptionBudget"


def test_an_event_has_the_names_of_the_group_that_is_asked() -> None:
    """Made and patched in the newer one, read in both."""
    door, url = Door(), f"{EVENTS}/namespaces/shop/events"
    sent = {
        "metadata": {"name": "e"}, "note": "m", "regarding": {"kind": "Pod", "name": "p"},
        "reportingController": "default-scheduler", "eventTime": "2025-01-01T00:00:01.500000Z",
    }  # fmt: skip
    assert door.told("POST", url, sent)[0] == 201
    series = {"series": {"count": 2, "lastObservedTime": "2025-01-01T00:00:02.000000Z"}}
    code, event = door.told("PATCH", f"{url}/e", series, **STRATEGIC)
    assert (code, event["note"], event["series"]) == (200, "m", series["series"])
    core = door.told("GET", f"{CORE}/namespaces/shop/events/e")[1]
    assert (core["apiVersion"], core["message"], core["series"]["count"]) == ("v1", "m", 2)
    assert core["involvedObject"] == sent["regarding"]


def test_a_long_list_comes_in_pages() -> None:
    """Each says where the next begins, and the last does not."""
    door = Door()
    for name in ("a", "b", "c"):
        door.ask("POST", PODS, pod(name))
    first = door.told("GET", f"{PODS}?limit=2")[1]
    assert [each["metadata"]["name"] for each in first["items"]] == ["a", "b"]
    rest = door.told("GET", f"{PODS}?limit=2&continue={first['metadata']['continue']}")[1]
    assert [each["metadata"]["name"] for each in rest["items"]] == ["c"]
    assert "continue" not in rest["metadata"]


def test_a_table_and_bare_metadata_are_answered_to_who_asks() -> None:
    """Of a list and of an object."""
    door = Door()
    door.ask("POST", PODS, pod())
    table = door.told("GET", PODS, **TABLE)[1]
    assert (table["kind"], table["rows"][0]["cells"][0]) == ("Table", "p")
    assert table["metadata"]["resourceVersion"] == "2"
    assert door.told("GET", f"{PODS}/p", **TABLE)[1]["rows"][0]["cells"][2] == "Pending"
    listed = door.told("GET", PODS, **PARTIAL)[1]
    assert (listed["kind"], listed["apiVersion"]) == (
        "PartialObjectMetadataList", "meta.k8s.io/v1",
    )  # fmt: skip
    assert listed["items"][0]["metadata"]["name"] == "p"
    assert "spec" not in door.told("GET", f"{PODS}/p", **PARTIAL)[1]


# -- watches ------------------------------------------------------------------------------------


@pytest.mark.spec("API-48")
def test_events_are_found_by_what_they_are_about() -> None:
    """As `kubectl describe` asks for them, in either group; by any other field not at all."""
    door, url = Door(), f"{CORE}/namespaces/shop/events"
    for name, uid in (("e1", "u-1"), ("e2", "u-2")):
        about = {"kind": "Pod", "namespace": "shop", "name": "p", "uid": uid}
        door.told("POST", url, {"metadata": {"name": name}, "involvedObject": about, "reason": "x"})

    def found(root: str, *terms: str) -> list[str]:
        query = f"fieldSelector={','.join(terms)}"
        _, told = door.told("GET", f"{root}/namespaces/shop/events?{query}")
        return [item["metadata"]["name"] for item in told["items"]]

    described = ("name=p", "namespace=shop", "kind=Pod", "uid=u-2")
    assert found(CORE, *(f"involvedObject.{term}" for term in described)) == ["e2"]
    assert found(EVENTS, *(f"regarding.{term}" for term in described)) == ["e2"]
    assert found(CORE, "involvedObject.uid!=u-2", "type=", "reason=x") == ["e1"]
    code, status = door.told("GET", f"{url}?fieldSelector=involvedObject.resourceVersion=1")
    assert code == 400
    assert status["message"] == "field label not supported: involvedObject.resourceVersion"


def test_a_watch_is_a_line_for_each_change() -> None:
    """With kind and version, and a deletion at the revision of the deletion."""
    door = Door()
    door.ask("POST", PODS, pod())
    bind(door)
    door.ask("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
    door.ask("POST", f"{CORE}/nodes", {"metadata": {"name": "n"}})
    lines = door.ask("GET", f"{CORE}/pods?watch=1&resourceVersion=2&allowWatchBookmarks=true")
    heads = [(line["type"], line["object"]["metadata"]["resourceVersion"]) for line in lines]
    assert heads == [("MODIFIED", "3"), ("MODIFIED", "4"), ("DELETED", "5"), ("BOOKMARK", "6")]
    assert {(line["object"]["kind"], line["object"]["apiVersion"]) for line in lines} == {
        ("Pod", "v1")
    }
    assert lines[-1]["object"]["metadata"] == {"creationTimestamp": None, "resourceVersion": "6"}


def test_a_pod_that_is_no_longer_selected_is_deleted_for_its_watch() -> None:
    """So a scheduler's cache loses a pod that has failed."""
    door = Door()
    door.ask("POST", PODS, pod())
    door.ask("PATCH", f"{PODS}/p/status", {"status": {"phase": "Failed"}}, **STRATEGIC)
    url = f"{CORE}/pods?watch=1&resourceVersion=2&fieldSelector=status.phase!=Failed"
    assert [line["type"] for line in door.ask("GET", url)] == ["DELETED"]


def test_a_watch_from_lost_history_is_an_error_in_its_stream() -> None:
    """A Status of 410; nothing else is said."""
    door = Door()
    for n in range(3):
        door.ask("POST", PODS, pod(f"p{n}"))
    door.server.restart()
    (line,) = door.ask("GET", f"{PODS}?watch=1&resourceVersion=1")
    status = line["object"]
    assert (line["type"], status["kind"], status["code"]) == ("ERROR", "Status", 410)
    assert status["reason"] == "Expired"


def test_a_watch_of_tables_is_a_table_for_each_change() -> None:
    """As `kubectl get --watch` asks."""
    door = Door()
    door.ask("POST", PODS, pod())
    (line,) = door.ask("GET", f"{PODS}?watch=1", **TABLE)
    assert line["type"] == "ADDED"
    assert [row["cells"][0] for row in line["object"]["rows"]] == ["p"]


# -- refusals -----------------------------------------------------------------------------------

WHY = "The disruption budget b needs 1 healthy pods and has 1 currently"
REFUSALS: list[tuple[ApiError, dict[str, Any], dict[str, str]]] = [
    (NotFound("x"), {"details": {"name": "p", "kind": "pods"}}, {}),
    (Conflict("x"), {"code": 409, "reason": "Conflict"}, {}),
    (Invalid("x"), {"details": {"name": "p", "kind": "Pod"}}, {}),
    (Forbidden("x"), {"code": 403, "reason": "Forbidden", "message": "x"}, {}),
    (Expired("x"), {"code": 410, "reason": "Expired"}, {}),
    (TooManyRequests("x", causes=(WHY,)),
     {"details": {"causes": [{"reason": "DisruptionBudget", "message": WHY}]}}, {}),
    (TooManyRequests("x", retry_after_s=10), {"details": {"retryAfterSeconds": 10}},
     {"retry-after": "10"}),
    (TimedOut("x", retry_after_s=1, causes=("ResourceVersionTooLarge",)),
     {"code": 504, "reason": "Timeout", "details": {
         "name": "p", "kind": "pods", "retryAfterSeconds": 1,
         "causes": [{"reason": "ResourceVersionTooLarge", "message": "x"}]}},
     {"retry-after": "1"}),
]  # fmt: skip


@each_row(("error", "expected", "more"), REFUSALS, ids=lambda each: "")
def test_a_refusal_is_a_whole_status(error: Any, expected: Any, more: Any) -> None:
    """With the reason and the details by which clients decide what to do next."""
    reply = refused(error, HttpRequest("GET", f"{PODS}/p"))
    status = decode(reply.body)
    assert (reply.code, reply.more) == (error.code, more)
    assert expected.items() <= status.items()
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    assert head.items() <= status.items()
    assert as_client(status, "V1Status").message == "x"
    if isinstance(error, Expired):
        assert "details" not in status


def test_an_unknown_path_is_refused_by_a_status_too() -> None:
    """It is about no resource."""
    code, status = Door().told("GET", "/apis/example.com/v1/things")
    assert (code, status["reason"]) == (404, "NotFound")
    assert "details" not in status


def test_to_write_an_answer_is_no_look_at_the_store() -> None:
    """The actor that stands for a program never sees the numbers that go out to it."""
    door, looks = Door(), []
    token = LOOKED.set(lambda: looks.append(1))
    try:
        request = HttpRequest("POST", PODS, (), {}, encode(pod()))
        meaning: Any = meaning_of(request)
        LOOKED.set(None)
        answer = answer_at_once(door.server, meaning.operation, "alpha")
        LOOKED.set(lambda: looks.append(1))
        written(answer, meaning, 0)
        refused(Conflict(answer.meta.revision), request)
    finally:
        LOOKED.reset(token)
    assert not looks


def test_a_line_is_that_of_its_delivery_whatever_was_written_before() -> None:
    """The last line is kept for those who are told the same: and not for another object, type or
    form. A Table has ages, and so is written each time."""
    place = place_of("/api/v1/pods")
    forms = [AnswerForm(place.resource, shape) for shape in ("", PARTIAL_OBJECT, "Table")]
    pods = [Pod.of("p"), Pod.of("p"), Pod.of("q")]
    deliveries = [Delivery(told, each) for told in (ADDED, MODIFIED) for each in pods]
    for first, then in product(product(deliveries, forms), repeat=2):
        line_of(*first, 1000)
        told = decode(line_of(*then, 61_000))
        delivery, form = then
        assert told["type"] == delivery.type
        item = told["object"]
        if form.shape == "Table":
            item = item["rows"][0]["object"]
        assert item["kind"] == ("Pod" if form.shape == "" else PARTIAL_OBJECT)
        assert item["metadata"]["name"] == delivery.object.meta.name  # type: ignore[attr-defined]
