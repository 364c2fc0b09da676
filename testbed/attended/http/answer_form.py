"""AnswerForm: in which form a program takes its answer, as its Accept header says."""

from __future__ import annotations

import attrs

from testbed.attended.http.accept import PARTIAL, PARTIAL_LIST, TABLE, Accepted, accepted
from testbed.attended.http.catalogue import Resource
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reply import JSON
from testbed.errors import NotAcceptable

WHOLE = ""
"""The shape of an answer that is not turned into anything."""
SHAPES = {WHOLE: WHOLE, TABLE: TABLE, PARTIAL: PARTIAL, PARTIAL_LIST: PARTIAL}
_ANY_JSON = (JSON, "application/*", "*/*")


@attrs.frozen
class AnswerForm:
    """How objects of one resource are written."""

    resource: Resource
    shape: str = WHOLE
    """WHOLE, TABLE, or PARTIAL for nothing but metadata."""
    includes: str = "Metadata"
    """What of each object a Table holds beside its row: None, Metadata or Object."""


def form_of(request: HttpRequest, resource: Resource) -> AnswerForm:
    """The first form that the request takes and that can be written; NotAcceptable if none can."""
    for each in accepted(request) or (Accepted(JSON),):
        is_known = each.form in SHAPES and each.version in ("", "v1")
        if each.media in _ANY_JSON and is_known:
            includes = request.asks("includeObject") or "Metadata"
            return AnswerForm(resource, SHAPES[each.form], includes)
    raise NotAcceptable(f"only the following media types are accepted: {JSON}")
