"""A scale, and a whole collection that is deleted, as clients ask for them over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attended.door import Door
from tests.each_row import each_row

APPS, CORE = "/apis/apps/v1/namespaces/shop", "/api/v1/namespaces/shop"
MERGE = {"content-type": "application/merge-patch+json"}
JSON_PATCH = {"content-type": "application/json-patch+json"}
APPLY = {"content-type": "application/apply-patch+yaml"}
LABELS = {"app": "web"}


def workload(plural: str) -> dict[str, Any]:
    """A workload of three pods as a client sends it."""
    expression = {"key": "tier", "operator": "In", "values": ["b", "a"]}
    said: Any = {"matchLabels": LABELS, "matchExpressions": [expression]}
    if plural == "replicationcontrollers":
        said = {**LABELS, "tier": "a"}
    pod = {"containers": [{"name": "c"}]}
    template = {"metadata": {"labels": {**LABELS, "tier": "a"}}, "spec": pod}
    spec = {"replicas": 3, "selector": said, "template": template}
    return {"metadata": {"name": "web"}, "spec": spec}


def opened(plural: str) -> tuple[Door, str]:
    """A door to a workload of that kind, and the URL of its scale."""
    door = Door()
    url = f"{CORE if plural == 'replicationcontrollers' else APPS}/{plural}"
    assert door.told("POST", url, workload(plural))[0] == 201
    return door, f"{url}/web/scale"


@pytest.mark.spec("API-67")
@each_row(
    ("plural", "selector"),
    [
        ("deployments", "app=web,tier in (a,b)"),
        ("replicasets", "app=web,tier in (a,b)"),
        ("statefulsets", "app=web,tier in (a,b)"),
        ("replicationcontrollers", "app=web,tier=a"),
    ],
)
def test_a_scale_is_read_replaced_and_patched(plural: str, selector: str) -> None:
    """With the identity of the workload, of which nothing but the number of pods changes."""
    door, url = opened(plural)
    code, scale = door.told("GET", url)
    assert (code, scale["apiVersion"], scale["kind"]) == (200, "autoscaling/v1", "Scale")
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 0, "selector": selector}
    whole, parts = url.removesuffix("/scale"), ("name", "namespace", "uid", "resourceVersion")
    before = door.told("GET", whole)[1]
    assert all(scale["metadata"][part] == before["metadata"][part] for part in parts)
    assert door.told("PUT", url, {**scale, "spec": {"replicas": 5}})[1]["spec"]["replicas"] == 5
    told = door.told("PATCH", url, {"spec": {"replicas": 7}}, **MERGE)[1]
    assert told["spec"]["replicas"] == 7
    step = {"op": "replace", "path": "/spec/replicas", "value": 8}
    assert door.told("PATCH", url, [step], **JSON_PATCH)[1]["spec"]["replicas"] == 8
    assert door.told("PUT", url, {"metadata": {"name": "web"}})[1]["spec"] == {}
    after = door.told("GET", whole)[1]
    assert after["spec"].pop("replicas") == 0
    assert before["spec"].pop("replicas") == 3
    assert after["spec"] == before["spec"]


@pytest.mark.spec("API-67")
def test_a_scale_that_makes_no_sense_is_refused() -> None:
    """What it was read from has changed or is another, its number is negative, its name is not the
    workload's, or there is none."""
    door, url = opened("deployments")
    scale = door.told("GET", url)[1]
    door.told("PATCH", url, {"spec": {"replicas": 4}}, **MERGE)
    code, status = door.told("PUT", url, scale)
    assert (code, status["reason"]) == (409, "Conflict")
    assert "object has been modified" in status["message"]
    other = {"metadata": {"name": "web", "uid": "x"}, "spec": {"replicas": 9}}
    assert door.told("PUT", url, other)[0] == 409
    for method, tree, headers in (
        ("PUT", {"metadata": {"name": "web"}, "spec": {"replicas": -1}}, {}),
        ("PATCH", {"spec": {"replicas": -1}}, MERGE),
    ):
        code, status = door.told(method, url, tree, **headers)
        assert (code, status["message"]) == (
            422,
            'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater '
            "than or equal to 0",
        )
    assert door.told("PUT", url, {"metadata": {"name": "x"}})[0] == 400
    assert door.told("PUT", url, {"kind": "Deployment", "metadata": {"name": "web"}})[0] == 400
    assert door.told("GET", url.replace("web", "none"))[0] == 404
    assert door.told("GET", f"{APPS}/daemonsets/web/scale")[0] == 404
    assert door.told("PATCH", f"{url}?fieldManager=a", scale, **APPLY)[0] == 400
    assert door.told("GET", url)[1]["spec"]["replicas"] == 4


@pytest.mark.spec("API-66", "API-67")
def test_who_scales_owns_the_number() -> None:
    """And who applies another is told so."""
    door, url = opened("deployments")
    whole = url.removesuffix("/scale")
    said = {**workload("deployments"), "apiVersion": "apps/v1", "kind": "Deployment"}
    door.told("PATCH", f"{whole}?fieldManager=ann&force=true", said, **APPLY)
    door.told("PATCH", f"{url}?fieldManager=hpa", {"spec": {"replicas": 9}}, **MERGE)
    code, status = door.told("PATCH", f"{whole}?fieldManager=ann", said, **APPLY)
    assert (code, status["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: '
        ".spec.replicas",
    )


@pytest.mark.spec("API-68")
def test_a_collection_is_deleted_as_its_selectors_say() -> None:
    """The answer is the list of them; a pod that is bound has its grace; others stay."""
    door, pods = Door(), f"{CORE}/pods"
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        spec = {"containers": [{"name": "main"}]}
        item = {"metadata": {"name": name, "labels": {"app": app}}, "spec": spec}
        assert door.told("POST", pods, item)[0] == 201
    target = {"metadata": {"name": "b"}, "target": {"kind": "Node", "name": "n1"}}
    door.told("POST", f"{pods}/b/binding", target)
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 7}
    code, told = door.told("DELETE", f"{pods}?labelSelector=app=web", options)
    assert (code, told["kind"]) == (200, "PodList")
    assert [item["metadata"]["name"] for item in told["items"]] == ["a", "b"]
    assert door.told("GET", f"{pods}/a")[0] == 404
    assert door.told("GET", f"{pods}/b")[1]["metadata"]["deletionGracePeriodSeconds"] == 7
    assert "deletionTimestamp" not in door.told("GET", f"{pods}/c")[1]["metadata"]
    assert door.told("DELETE", f"{pods}?fieldSelector=spec.x=1")[0] == 400
    door.told("DELETE", f"{pods}?gracePeriodSeconds=0")
    assert door.told("GET", pods)[1]["items"] == []


@pytest.mark.spec("API-68")
def test_not_every_collection_can_be_deleted() -> None:
    """Neither namespaces, nor a kind in all of them at once."""
    door = Door()
    assert door.told("DELETE", "/api/v1/namespaces")[0] == 405
    assert door.told("DELETE", "/api/v1/pods")[0] == 405
    assert door.told("DELETE", "/api/v1/nodes")[0] == 200
