"""OpenAPI: the schemas that a server publishes: here it says that it publishes none.

`kubectl apply` and `create` ask for them for three things, and an empty document is the plainest
true answer to each. To check a manifest before it is sent: of a kind without a schema all fields
are let through. That is what the server does too, for it keeps the fields that it does not know,
and a schema of only those it knows would have kubectl refuse a pod with volumes. To know which
lists a patch merges: kubectl falls back to what it was built with, as Kubernetes has it. To learn
whether the server checks fields itself (`fieldValidation`): it does not, and nothing says it does.

A 404 instead would stop kubectl, unless its user adds `--validate=false`.
"""

from __future__ import annotations

from testbed.attended.http.discovery import VERSION
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reply import Reply

PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""The only form in which kubectl reads version 2. It asks for it with an `@` in the name, which it
cannot read in an answer."""
TITLE, SWAGGER = "Kubernetes", "2.0"


def described(request: HttpRequest) -> Reply | None:
    """The answer to a question about schemas; None if the request is none."""
    if request.method != "GET":
        return None
    if request.path == "/openapi/v3":
        return Reply.saying({"paths": {}})
    if request.path != "/openapi/v2":
        return None
    if "protobuf" in request.headers.get("accept", ""):
        return Reply(200, _document(), PROTOBUF)
    info = {"title": TITLE, "version": VERSION["gitVersion"]}
    return Reply.saying({"swagger": SWAGGER, "info": info, "paths": {}, "definitions": {}})


def _document() -> bytes:
    """The same document in protobuf: field 1 is the version of the format, 2 is the info."""
    info = _text(1, TITLE) + _text(2, VERSION["gitVersion"])
    return _text(1, SWAGGER) + _field(2, info)


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _field(number: int, content: bytes) -> bytes:
    """One field of a protobuf message, of up to 127 bytes: number, kind, length, content."""
    return bytes(((number << 3) | 2, len(content))) + content
