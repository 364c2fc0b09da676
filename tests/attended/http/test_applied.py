"""Server-side apply over HTTP: what is sent, what is answered, and how a conflict is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attended.door import Door

WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
APPLY = {"content-type": "application/apply-patch+yaml"}
MERGE = {"content-type": "application/merge-patch+json"}


def web(replicas: int) -> dict[str, Any]:
    """A Deployment as a manifest says it."""
    labels = {"app": "web"}
    spec = {"containers": [{"name": "c", "image": "v1"}]}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                 "template": {"metadata": {"labels": labels}, "spec": spec}},
    }  # fmt: skip


@pytest.mark.spec("API-65", "API-66")
def test_a_conflict_is_told_field_by_field() -> None:
    """With a cause that a program can read; who updates is known by its User-Agent."""
    door = Door()
    code, made = door.told("PATCH", f"{WEB}?fieldManager=kubectl", web(3), **APPLY)
    assert code == 200
    assert made["metadata"]["managedFields"][0]["manager"] == "kubectl"
    scaled = {"spec": {"replicas": 5}}
    door.ask("PATCH", WEB, scaled, **MERGE, **{"user-agent": "hpa/v1.26.15 (linux/amd64)"})
    code, status = door.told("PATCH", f"{WEB}?fieldManager=kubectl", web(3), **APPLY)
    said = 'conflict with "hpa" using apps/v1'
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == f"Apply failed with 1 conflict: {said}: .spec.replicas"
    assert status["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": said, "field": ".spec.replicas"}]
    }
    code, taken = door.told("PATCH", f"{WEB}?fieldManager=kubectl&force=true", web(3), **APPLY)
    assert (code, taken["spec"]["replicas"]) == (200, 3)
    revision = taken["metadata"]["resourceVersion"]
    _, again = door.told("PATCH", f"{WEB}?fieldManager=kubectl", web(3), **APPLY)
    assert again["metadata"]["resourceVersion"] == revision


@pytest.mark.spec("API-65")
def test_an_apply_has_to_say_who_applies() -> None:
    """And only an apply is forced."""
    door = Door()
    code, status = door.told("PATCH", WEB, web(3), **APPLY)
    assert (code, status["message"]) == (
        422,
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for '
        "apply patch",
    )
    assert door.told("PATCH", f"{WEB}?force=true", {}, **MERGE)[0] == 422
