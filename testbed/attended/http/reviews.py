"""Reviews: what a program asks of its own rights. Here everything is allowed, and the answer says
so: there are no users, no roles, and a token says which program asks and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reply import Reply
from testbed.objects.codec import decode

AUTHENTICATION, AUTHORIZATION = "authentication.k8s.io/v1", "authorization.k8s.io/v1"
REVIEWS = (
    (AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview"),
    (AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    (AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
)
"""The reviews that are answered: API group and version, plural, kind."""
REASON = "this API server allows everything to everyone"


def reviewed(request: HttpRequest, program: str) -> Reply | None:
    """The answer to a review that `program` asks for; None if the request is no review."""
    if request.method != "POST":
        return None
    for api_version, plural, kind in REVIEWS:
        if request.path == f"/apis/{api_version}/{plural}":
            given = _body(request)
            status = _STATUS[kind](program)
            head = {"kind": kind, "apiVersion": api_version}
            return Reply.saying({**given, **head, "status": status}, 201)
    return None


def _body(request: HttpRequest) -> dict[str, Any]:
    """Its body, to be echoed; nothing of one that is no JSON object."""
    try:
        tree = decode(request.body)
    except ValueError:
        return {}
    return tree if isinstance(tree, dict) else {}


def _access(_: str) -> dict[str, Any]:
    return {"allowed": True, "reason": REASON}


def _rules(_: str) -> dict[str, Any]:
    every = {"verbs": ["*"]}
    return {
        "resourceRules": [{**every, "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{**every, "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }


def _subject(program: str) -> dict[str, Any]:
    return {"userInfo": {"username": program, "groups": ["system:authenticated"]}}


_STATUS: dict[str, Callable[[str], dict[str, Any]]] = {
    "SelfSubjectAccessReview": _access,
    "SelfSubjectRulesReview": _rules,
    "SelfSubjectReview": _subject,
}
