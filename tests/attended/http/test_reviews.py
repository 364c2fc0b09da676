"""What a program asks of its own rights."""

from __future__ import annotations

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reviews import REVIEWS, reviewed
from testbed.objects.codec import decode, encode
from tests.each_row import each_row


@each_row(("api_version", "plural", "kind"), REVIEWS)
def test_each_review_is_answered_with_its_own_spec(
    api_version: str, plural: str, kind: str
) -> None:
    """The answer is the object that was sent, with a status."""
    spec = {"resourceAttributes": {"verb": "create", "resource": "pods"}}
    body = encode({"kind": kind, "apiVersion": api_version, "spec": spec})
    reply = reviewed(HttpRequest("POST", f"/apis/{api_version}/{plural}", body=body), "alpha")
    assert reply is not None
    tree = decode(reply.body)
    assert (reply.code, tree["kind"], tree["apiVersion"], tree["spec"]) == (
        201, kind, api_version, spec,
    )  # fmt: skip
    match kind:
        case "SelfSubjectAccessReview":
            assert tree["status"]["allowed"] is True
        case "SelfSubjectRulesReview":
            assert tree["status"]["resourceRules"][0]["verbs"] == ["*"]
        case "SelfSubjectReview":
            assert tree["status"]["userInfo"]["username"] == "alpha"


@each_row(
    ("method", "path"),
    [
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"),
        ("POST", "/api/v1/namespaces/default/pods"),
    ],
)
def test_nothing_else_is_a_review(method: str, path: str) -> None:
    """A program can only ask about itself: there is no other user."""
    assert reviewed(HttpRequest(method, path), "alpha") is None
