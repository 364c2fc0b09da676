"""What was asked of an API server: the request that was served, and its preconditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from testbed import Evidence
from testbed.objects import DeleteOptions, Eviction, Object

UNCONDITIONAL = ("", "0")
"""Revisions that demand nothing."""


def asked_of_server(evidence: Evidence) -> Any:
    """The request that an API server has served in this turn, or None."""
    request = evidence.served
    return request if request is not None and request.post.endpoint.is_front else None


@attrs.frozen
class Demand:
    """The preconditions of a request: which object it means. Empty: any."""

    uid: str = ""
    revision: str = ""


def demand_of(operation: Any) -> Demand:
    """The preconditions that an Operation names."""
    body, asked = operation.body, operation.asked
    if operation.verb in ("delete", "deletecollection"):
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
    """The options of a delete or an eviction."""
    if isinstance(operation.body, Eviction):
        return operation.body.delete_options or DeleteOptions()
    return DeleteOptions(operation.options.get("grace_s"))


def _demand(uid: Any, revision: Any) -> Demand:
    number = str(revision or "")
    return Demand(str(uid or ""), "" if number in UNCONDITIONAL else number)
