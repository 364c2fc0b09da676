"""What was asked of an API server, as its claims read it: the request, and what it demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from testbed import Evidence
from testbed.objects import DeleteOptions, Eviction, Object

CAUSELESS = ("", "0")
"""As a revision: none is demanded."""


def asked_of_server(evidence: Evidence) -> Any:
    """The request that an API server has served in this turn; None if none has."""
    request = evidence.served
    return request if request is not None and request.post.endpoint.is_front else None


@attrs.frozen
class Demand:
    """What an object must be for what is asked of it to be done."""

    uid: str = ""
    revision: str = ""


def demand_of(operation: Any) -> Demand:
    """What the Operation demands of the object it names."""
    body, asked = operation.body, operation.asked
    if operation.verb == "delete":
        return _demand(operation.uid, operation.revision)
    if asked == "create/eviction":
        given = options_of(operation).preconditions
        return _demand(given.uid, given.revision)
    if asked == "create/binding" and isinstance(body, Object):
        return _demand(body.meta.uid, "")
    if operation.verb == "update" and isinstance(body, Object):
        return _demand(body.meta.uid, body.meta.revision)
    if operation.verb == "patch" and isinstance(body, Mapping):
        meta = body.get("metadata") or {}
        return _demand(meta.get("uid"), meta.get("resourceVersion"))
    return Demand()


def options_of(operation: Any) -> DeleteOptions:
    """How the Operation wants a pod deleted."""
    if isinstance(operation.body, Eviction):
        return operation.body.delete_options or DeleteOptions()
    return DeleteOptions(operation.options.get("grace_s"))


def _demand(uid: Any, revision: Any) -> Demand:
    said = str(revision or "")
    return Demand(str(uid or ""), "" if said in CAUSELESS else said)
