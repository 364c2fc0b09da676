"""What a request of a real client means: the Operation, or the answer at the door."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.attended.http.accept import PARTIAL, TABLE
from testbed.attended.http.answer_form import WHOLE
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.meaning import Silence, ToServer, ToWatch, meaning_of
from testbed.attended.http.reply import Reply
from testbed.errors import (
    ApiError,
    BadRequest,
    Invalid,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    UnsupportedMedia,
)
from testbed.objects import (
    Binding,
    DeleteOptions,
    Eviction,
    Map,
    Meta,
    Pod,
    Revision,
    Scale,
    ScaleSpec,
    Target,
)
from testbed.objects.codec import decode
from testbed.objects.labels import parse
from testbed.store.endpoint import Operation
from testbed.store.retold import operation_from
from testbed.store.selector import Selector
from tests.each_row import each_row

CORE, EVENTS = "/api/v1", "/apis/events.k8s.io/v1"
PODS = f"{CORE}/namespaces/shop/pods"
POD = b'{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}'
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
TO_N2 = (
    b'{"kind":"Binding","apiVersion":"v1","metadata":{"name":"p","namespace":"shop","uid":"u-1"},'
    b'"target":{"kind":"Node","name":"n2"}}'
)
EVICT = (
    b'{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p","namespace":"shop"},'
    b'"deleteOptions":{"gracePeriodSeconds":5}}'
)


def request(
    method: str, url: str, body: bytes = b"", content_type: str = "", *, accept: str = ""
) -> HttpRequest:
    """A request as a client sends it; `url` has the query, not encoded."""
    path, _, query = url.partition("?")
    pairs = tuple((each.partition("=")[0], each.partition("=")[2]) for each in query.split("&"))
    given = {"content-type": content_type, "accept": accept}
    sent = {name: value for name, value in given.items() if value}
    return HttpRequest(method, path, pairs if query else (), sent, body)


def meant(*said: Any, accept: str = "") -> Any:
    """What such a request means."""
    return meaning_of(request(*said, accept=accept))


def asked(*said: Any) -> Operation:
    """The Operation that it means, which is the same when it is read back from its line."""
    operation: Operation = meant(*said).operation
    again = operation_from(operation.line())
    assert repr(again) == repr(operation)
    return operation


def refusal(*said: Any, accept: str = "") -> ApiError:
    """How it is refused at the door."""
    with pytest.raises(ApiError) as caught:
        meant(*said, accept=accept)
    return caught.value


# -- reads --------------------------------------------------------------------------------------

NOT_OVER = Selector(unlike=(("status.phase", "Succeeded"), ("status.phase", "Failed")))
READS = {
    f"{PODS}/p": Operation("get", "pods", "p", "shop"),
    f"{PODS}/p/status": Operation("get", "pods", "p", "shop"),
    f"{CORE}/nodes/n1?resourceVersion=0": Operation("get", "nodes", "n1", revision=Revision("0")),
    f"{CORE}/namespaces/shop": Operation("get", "namespaces", "shop"),
    f"{CORE}/pods?limit=500&resourceVersion=0"
    "&fieldSelector=status.phase!=Succeeded,status.phase!=Failed": Operation(
        "list", "pods", revision=Revision("0"), selector=NOT_OVER, options=Map(limit=500)
    ),
    f"{PODS}?labelSelector=app=web,tier!=db&fieldSelector=spec.nodeName=n1": Operation(
        "list", "pods",
        selector=Selector("shop", None, (("spec.node_name", "n1"),), (), parse("app=web,tier!=db")),
    ),
    f"{PODS}?limit=2&continue=abc&resourceVersionMatch=Exact&resourceVersion=7": Operation(
        "list", "pods", revision=Revision("7"), selector=Selector("shop"),
        options=Map({"match": "Exact", "continue": "abc", "limit": 2}),
    ),
    f"{PODS}?fieldSelector=metadata.name==p": Operation(
        "list", "pods", selector=Selector("shop", "p")
    ),
    f"{CORE}/pods?fieldSelector=metadata.namespace=shop,metadata.name!=p": Operation(
        "list", "pods", selector=Selector("shop", unlike=(("meta.name", "p"),))
    ),
    f"{CORE}/nodes?fieldSelector=spec.unschedulable=true": Operation(
        "list", "nodes", selector=Selector(fields=(("spec.unschedulable", True),))
    ),
    f"{CORE}/namespaces/shop/events?fieldSelector=involvedObject.uid=u\\,1,reason=": Operation(
        "list", "events",
        selector=Selector("shop", None, (("involved.uid", "u,1"), ("reason", ""))),
    ),
    f"{EVENTS}/events?fieldSelector=regarding.name=p": Operation(
        "list", "events", selector=Selector(fields=(("involved.name", "p"),))
    ),
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s":
        Operation("get", "leases", "kube-scheduler", "kube-system"),
    f"{CORE}/pods?watch=false&pretty=true": Operation("list", "pods"),
}  # fmt: skip


@each_row("url", READS)
def test_a_read_means_this(url: str) -> None:
    """By path and query, in the words of the testbed."""
    meaning = meant("GET", url)
    assert isinstance(meaning, ToServer)
    assert asked("GET", url) == READS[url]


def test_a_watch_says_where_it_begins_and_when_it_ends() -> None:
    """As client-go and the Python client ask; a watch without a revision begins with all."""
    url = f"{CORE}/pods?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300&watch=true"
    meaning = meant("GET", url)
    assert isinstance(meaning, ToWatch)
    assert meaning.timeout_s == 300
    assert meaning.operation == Operation(
        "watch", "pods", revision=Revision("7"), options=Map(bookmarks=True)
    )
    plain = meant("GET", f"{PODS}?watch=1&timeoutSeconds=0")
    assert plain.timeout_s is None
    assert plain.operation == Operation("watch", "pods", selector=Selector("shop"))


@each_row("flag", ["watch", "watch=", "watch=1", "watch=True", "watch=yes"])
def test_a_flag_is_read_as_kubernetes_reads_it(flag: str) -> None:
    """Set by its mere name, and by anything but 0 and false."""
    assert isinstance(meant("GET", f"{PODS}?{flag}"), ToWatch)
    assert isinstance(meant("GET", f"{PODS}?{flag.partition('=')[0]}=0"), ToServer)


# -- kinds that are not modelled ------------------------------------------------------------------


def test_of_a_kind_that_is_not_modelled_there_is_nothing() -> None:
    """Its list is empty, its watch is silent, and whoever waits for both goes on."""
    url = "/apis/storage.k8s.io/v1/csinodes"
    listed = meant("GET", f"{url}?limit=500&resourceVersion=0")
    assert isinstance(listed, Reply)
    assert decode(listed.body) == {
        "kind": "CSINodeList",
        "apiVersion": "storage.k8s.io/v1",
        "metadata": {"resourceVersion": "1"},
        "items": [],
    }
    assert meant("GET", f"{url}?watch=true&timeoutSeconds=9") == Silence(9)
    assert refusal("GET", f"{url}/n1").args == ('csinodes.storage.k8s.io "n1" not found',)
    refused = refusal("POST", f"{CORE}/namespaces/shop/services", b"{}")
    assert isinstance(refused, NotFound)
    assert "does not model Service" in str(refused)


# -- writes -------------------------------------------------------------------------------------


def bound(**meta: Any) -> Binding:
    """The Binding of TO_N2."""
    return Binding(Meta("p", "shop", "u-1", **meta), target=Target("n2"))


WRITES: dict[str, tuple[tuple[Any, ...], Operation]] = {
    "create": (
        ("POST", PODS, POD, "application/json; charset=utf-8"),
        Operation("create", "pods", "p", "shop", Pod.of("shop/p")),
    ),
    "create from YAML": (
        ("POST", f"{CORE}/nodes?fieldManager=me&fieldValidation=Strict", b"metadata: {name: n1}",
         "application/yaml"),
        Operation("create", "nodes", "n1", options=Map(field_manager="me")),
    ),
    "bind": (
        ("POST", f"{PODS}/p/binding", TO_N2, "application/json"),
        Operation("create", "pods", "p", "shop", bound(), subresource="binding"),
    ),
    "bind, as the Python client does": (
        ("POST", f"{CORE}/namespaces/shop/bindings", TO_N2),
        Operation("create", "pods", "p", "shop", bound(), subresource="binding"),
    ),
    "evict": (
        ("POST", f"{PODS}/p/eviction", EVICT),
        Operation(
            "create", "pods", "p", "shop",
            Eviction(Meta("p", "shop"), delete_options=DeleteOptions(5)), subresource="eviction",
        ),
    ),
    "update": (
        ("PUT", f"{PODS}/p", POD.replace(b'"p"', b'"p","resourceVersion":"7"')),
        Operation("update", "pods", "p", "shop", revision=Revision("7")),
    ),
    "update of a status": (
        ("PUT", f"{CORE}/nodes/n1/status", b'{"metadata":{"name":"n1"}}'),
        Operation("update", "nodes", "n1", subresource="status"),
    ),
    "the scheduler's condition": (
        ("PATCH", f"{PODS}/p/status", b'{"status":{"$setElementOrder/conditions":[{"type":"A"}],'
         b'"nominatedNodeName":null}}', STRATEGIC),
        Operation(
            "patch", "pods", "p", "shop",
            Map(status=Map({"$setElementOrder/conditions": (Map(type="A"),),
                            "nominatedNodeName": None})),
            subresource="status", options=Map(how="strategic"),
        ),
    ),
    "merge": (
        ("PATCH", f"{PODS}/p?fieldManager=kubectl-label", b'{"metadata":{"labels":{"a":"b"}}}',
         MERGE),
        Operation(
            "patch", "pods", "p", "shop", Map(metadata=Map(labels=Map(a="b"))),
            options=Map(field_manager="kubectl-label", how="merge"),
        ),
    ),
    "JSON patch": (
        ("PATCH", f"{PODS}/p", b'[{"op":"remove","path":"/x"}]', JSON_PATCH),
        Operation(
            "patch", "pods", "p", "shop", (Map(op="remove", path="/x"),), options=Map(how="json")
        ),
    ),
    "server-side apply": (
        ("PATCH", f"{PODS}/p?fieldManager=kubectl&force=true", b"kind: Pod\n", APPLY),
        Operation(
            "patch", "pods", "p", "shop", Map(kind="Pod"),
            options=Map(how="apply", field_manager="kubectl", force=True),
        ),
    ),
    "delete": (("DELETE", f"{PODS}/p"), Operation("delete", "pods", "p", "shop")),
    "delete, as the scheduler does": (
        ("DELETE", f"{PODS}/p", b'{"kind":"DeleteOptions","apiVersion":"v1"}'),
        Operation("delete", "pods", "p", "shop"),
    ),
    "delete at once": (
        ("DELETE", f"{PODS}/p?gracePeriodSeconds=0&propagationPolicy=Orphan"),
        Operation("delete", "pods", "p", "shop", options=Map(grace_s=0, propagation="Orphan")),
    ),
    "delete of just this one": (
        ("DELETE", f"{PODS}/p?gracePeriodSeconds=9", b'{"gracePeriodSeconds":3,'
         b'"propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"4"}}'),
        Operation("delete", "pods", "p", "shop", revision=Revision("4"), uid="u",
                  options=Map(grace_s=3, propagation="Foreground")),
    ),
    "delete, in the older way": (
        ("DELETE", f"{PODS}/p", b'{"orphanDependents":true}'),
        Operation("delete", "pods", "p", "shop", options=Map(propagation="Orphan")),
    ),
    "delete of a collection": (
        ("DELETE", f"{PODS}?labelSelector=app=web&gracePeriodSeconds=3"),
        Operation("deletecollection", "pods", namespace="shop", options=Map(grace_s=3),
                  selector=Selector(namespace="shop", labels=parse("app=web"))),
    ),
    "a scale": (
        ("PUT", "/apis/apps/v1/namespaces/shop/deployments/web/scale",
         b'{"metadata":{"name":"web","resourceVersion":"4"},"spec":{"replicas":2}}'),
        Operation("update", "deployments", "web", "shop",
                  Scale(Meta("web", "shop", revision=Revision("4")), ScaleSpec(2)), Revision("4"),
                  subresource="scale"),
    ),
    "a series of Events": (
        ("PATCH", f"{EVENTS}/namespaces/shop/events/e", b'{"note":"m","series":{"count":2}}',
         STRATEGIC),
        Operation(
            "patch", "events", "e", "shop",
            Map(message="m", series=Map(count=2)), options=Map(how="strategic"),
        ),
    ),
    "a JSON patch of an Event": (
        ("PATCH", f"{EVENTS}/namespaces/shop/events/e",
         b'[{"op":"add","path":"/regarding/name","value":1}]', JSON_PATCH),
        Operation(
            "patch", "events", "e", "shop",
            (Map(op="add", path="/involvedObject/name", value=1),), options=Map(how="json"),
        ),
    ),
}  # fmt: skip


@each_row("name", WRITES)
def test_a_write_means_this(name: str) -> None:
    """By method, path, query, content type and body."""
    said, expected = WRITES[name]
    found = asked(*said)
    if expected.body is None:
        assert found.body is None or found.body.key == found.key
        expected = Operation(
            expected.verb, expected.plural, expected.name, expected.namespace, found.body,
            expected.revision, expected.uid, expected.selector,
            subresource=expected.subresource, options=expected.options,
        )  # fmt: skip
    elif name == "create":
        assert found.body.spec.containers[0].name == "c"
        return
    assert found == expected


def test_an_event_of_the_newer_group_is_an_event() -> None:
    """It has other names there for the same fields."""
    body = (
        b'{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"note":"m",'
        b'"regarding":{"kind":"Pod","name":"p"},"reportingController":"default-scheduler",'
        b'"eventTime":"2025-01-01T00:00:01.500000Z"}'
    )
    event = asked("POST", f"{EVENTS}/namespaces/shop/events", body).body
    assert (event.message, event.involved.name, event.event_ms) == ("m", "p", 1500)
    assert event.reporting_component == "default-scheduler"
    assert event.meta.namespace == "shop"


def test_the_same_body_in_another_order_means_the_same() -> None:
    """Also to what walks over its labels: the order of names is not kept."""
    one = b'{"metadata":{"name":"p","labels":{"a":"1","b":"2"}},"x":{"y":1,"z":[{"k":1,"j":2}]}}'
    other = b'{"x":{"z":[{"j":2,"k":1}],"y":1},"metadata":{"labels":{"b":"2","a":"1"},"name":"p"}}'
    assert repr(asked("POST", PODS, one)) == repr(asked("POST", PODS, other))


def test_a_namespace_that_is_not_said_is_that_of_the_url() -> None:
    """And a kind that is in none has none, whatever the body says."""
    assert asked("POST", PODS, POD).body.meta.namespace == "shop"
    node = b'{"metadata":{"name":"n","namespace":"shop"}}'
    assert asked("POST", f"{CORE}/nodes", node).body.meta.namespace == ""


# -- refusals -----------------------------------------------------------------------------------

REFUSED: dict[str, tuple[tuple[Any, ...], type[ApiError], str]] = {
    "no such path": (("GET", "/nowhere"), NotFound, "could not find"),
    "no such kind": (("GET", f"{CORE}/notes"), NotFound, "could not find"),
    "a kind of another group": (("GET", "/apis/apps/v1/pods"), NotFound, "could not find"),
    "no namespace": (("GET", f"{CORE}/pods/p"), NotFound, "could not find"),
    "a namespace too many": (("GET", f"{CORE}/namespaces/a/nodes"), NotFound, "could not find"),
    "the old way to watch": (("GET", f"{CORE}/watch/pods"), NotFound, "could not find"),
    "a watch that sends what there is": (
        ("GET", f"{PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
        Invalid, "sendInitialEvents is forbidden for watch",
    ),
    "a collection": (("PUT", PODS), MethodNotAllowed, "does not allow this method"),
    "all namespaces": (("POST", f"{CORE}/pods", POD), MethodNotAllowed, "does not allow"),
    "a name to create": (("POST", f"{PODS}/p", POD), MethodNotAllowed, "does not allow"),
    "a list of bindings": (("GET", f"{CORE}/namespaces/a/bindings"), MethodNotAllowed, "does not"),
    "a bind that is read": (("GET", f"{PODS}/p/binding"), MethodNotAllowed, "does not allow"),
    "HEAD": (("HEAD", f"{PODS}/p"), MethodNotAllowed, "does not allow"),
    "dry run": (("POST", f"{PODS}?dryRun=All", POD), BadRequest, "dryRun"),
    "dry run of a delete": (("DELETE", f"{PODS}/p", b'{"dryRun":["All"]}'), BadRequest, "dryRun"),
    "protobuf": (("POST", PODS, b"k8s\0", PROTOBUF), UnsupportedMedia, "clientConnection"),
    "a protobuf patch": (("PATCH", f"{PODS}/p", b"k8s\0", PROTOBUF), UnsupportedMedia, "JSON"),
    "a form": (("POST", PODS, POD, "application/x-www-form-urlencoded"), UnsupportedMedia,
               "media types include: application/json"),
    "a patch of no kind": (("PATCH", f"{PODS}/p", b"{}", "application/json"), UnsupportedMedia,
                           "strategic-merge-patch"),
    "no JSON": (("POST", PODS, b"{"), BadRequest, "must be of type Pod"),
    "no body": (("POST", PODS), BadRequest, "<empty>"),
    "no mapping": (("POST", PODS, b"[1]"), BadRequest, "expected a mapping"),
    "no text for a kind": (("POST", PODS, b'{"kind":[1]}'), BadRequest, "a list is no text"),
    "too deep": (("POST", PODS, b"[" * 100_000), BadRequest, "must be of type Pod"),
    "too deep for a field": (("POST", PODS, b'{"x":' + b"[" * 90 + b"]" * 90 + b"}"), BadRequest,
                             "at most 64 levels"),
    "too deep for a patch": (("PATCH", f"{PODS}/p", b'{"x":' + b"[" * 90 + b"]" * 90 + b"}", MERGE),
                             BadRequest, "at most 64 levels"),
    "half a letter": (("PATCH", f"{PODS}/p", b'{"x":"\\ud800"}', MERGE), BadRequest, "."),
    "two documents": (("POST", PODS, b"a: 1\n---\nb: 2\n", "application/yaml"), BadRequest,
                      "one document, found 2"),
    "a patch that is a list": (("PATCH", f"{PODS}/p", b"[]", MERGE), BadRequest, "a mapping"),
    "another kind": (("POST", PODS, b'{"kind":"Node","apiVersion":"v1"}'), BadRequest,
                     'Node in version "v1" cannot be handled as a Pod'),
    "another version": (("POST", PODS, b'{"kind":"Pod","apiVersion":"v2"}'), BadRequest,
                        r"the API version in the data \(v2\) does not match the expected API"),
    "a wrong type": (("POST", PODS, b'{"spec":{"priority":"x"}}'), BadRequest,
                     'Pod in version "v1" cannot be handled as a Pod: spec.priority'),
    "metadata of a wrong type": (("POST", PODS, b'{"metadata":7}'), BadRequest, "metadata"),
    "a binding elsewhere": (("POST", f"{PODS}/p/binding", TO_N2.replace(b"shop", b"other")),
                            BadRequest, "does not match the namespace"),
    "a wrong label selector": (("GET", f"{PODS}?labelSelector=a=b=c"), BadRequest, "unable to pa"),
    "a wrong field selector": (("GET", f"{PODS}?fieldSelector=x"), BadRequest, "invalid selector"),
    "an unknown field": (("GET", f"{PODS}?fieldSelector=spec.x=1"), BadRequest,
                         "field label not supported: spec.x"),
    "no number": (("GET", f"{PODS}?limit=many"), BadRequest, 'parsing "many"'),
    "a policy": (("DELETE", f"{PODS}/p?propagationPolicy=Never"), Invalid, '"Never": supported'),
    "apply by none": (("PATCH", f"{PODS}/p", b"{}", APPLY), Invalid, "fieldManager: Required"),
    "a forced merge": (("PATCH", f"{PODS}/p?force=true", b"{}", MERGE), Invalid, "non-apply"),
}  # fmt: skip


@each_row("name", REFUSED)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    """With the code and, where there is one, in the words of Kubernetes; never by a traceback."""
    said, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        meant(*said)


@each_row(
    ("accept", "shape"),
    [
        ("", WHOLE),
        ("*/*", WHOLE),
        (f"{PROTOBUF},application/json", WHOLE),
        ("application/json;stream=watch", WHOLE),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", TABLE),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json", WHOLE),
        ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", PARTIAL),
        (f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as="
         "PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", PARTIAL),
    ],
)  # fmt: skip
def test_an_answer_has_the_first_form_that_can_be_written(accept: str, shape: str) -> None:
    """Protobuf is passed over, and so is a form that is not known."""
    assert meant("GET", PODS, accept=accept).form.shape == shape


def test_who_takes_only_protobuf_is_told() -> None:
    """There is no answer for it."""
    assert isinstance(refusal("GET", PODS, accept=PROTOBUF), NotAcceptable)
