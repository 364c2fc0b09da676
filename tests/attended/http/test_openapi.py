"""The schemas that kubectl asks for: there are none, and it can read that."""

from __future__ import annotations

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.openapi import described
from testbed.objects.codec import decode

ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def test_version_2_is_an_empty_document_in_protobuf() -> None:
    """Byte by byte: swagger 2.0, and an info of title and version; no paths, no definitions."""
    reply = described(HttpRequest("GET", "/openapi/v2", headers={"accept": ASKED}))
    assert reply is not None
    info = b"\x0a\x0aKubernetes\x12\x10v1.26.15+testbed"
    assert reply.body == b"\x0a\x032.0\x12" + bytes([len(info)]) + info
    # A name with an @ is no content type: kubectl would refuse it.
    assert "@" not in reply.content_type


def test_who_wants_json_gets_the_same_in_json() -> None:
    """Version 3 has no groups."""
    old, new = (described(HttpRequest("GET", f"/openapi/{each}")) for each in ("v2", "v3"))
    assert old is not None
    assert new is not None
    assert decode(old.body)["definitions"] == {}
    assert decode(new.body) == {"paths": {}}


def test_nothing_else_is_about_schemas() -> None:
    """Not a group of version 3, since none is listed; not a POST."""
    assert described(HttpRequest("GET", "/openapi/v3/apis/apps/v1")) is None
    assert described(HttpRequest("POST", "/openapi/v2")) is None
