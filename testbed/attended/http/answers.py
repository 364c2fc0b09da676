"""Answers: what the API server has answered, as Kubernetes writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from testbed.attended.http.accept import PARTIAL, PARTIAL_LIST, TABLE
from testbed.attended.http.answer_form import AnswerForm
from testbed.attended.http.catalogue import Resource
from testbed.attended.http.causes import causes_in, name_in
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.meaning import BINDING, EVICTION, ToServer
from testbed.attended.http.place import CLASSES, Place, is_of_events_group, place_of
from testbed.attended.http.reply import Reply
from testbed.attended.http.tables.table import API_VERSION, partial, table, whole
from testbed.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Expired,
    Invalid,
    NotFound,
    TooManyRequests,
)
from testbed.objects.codec import encode_line
from testbed.objects.event import to_group
from testbed.objects.form import to_tree
from testbed.objects.meta import LOOKED, Object, text_of
from testbed.objects.pod import Pod
from testbed.objects.quota import ResourceQuota
from testbed.objects.scale import Scale
from testbed.store.delivery import BOOKMARK, Delivery
from testbed.store.endpoint import Listing

TOLD_WHOLE = (Pod, ResourceQuota)
"""Kinds of which Kubernetes answers a delete with the object, also if it is gone at once."""
BUDGET = "DisruptionBudget"
"""How clients know why an eviction was refused."""
OF_APPLY = "FieldManagerConflict"
"""How clients know that a field is owned by another manager."""


@contextmanager
def _unseen() -> Iterator[None]:
    """What is written here is shown to no actor, so it is no look at a number of the Store."""
    token = LOOKED.set(None)
    try:
        yield
    finally:
        LOOKED.reset(token)


# -- answers to requests --------------------------------------------------------------------------


def written(answer: Any, asked: ToServer, now_ms: int) -> Reply:
    """The answer to a request that was served; `now_ms` is what the ages in a Table count from."""
    operation = asked.operation
    code = 201 if operation.verb == "create" else 200
    with _unseen():
        if operation.subresource in (BINDING, EVICTION):
            return _reply({**_status("Success"), "code": 201}, 201)
        if isinstance(answer, Scale):
            return _reply(to_tree(answer), code)
        if isinstance(answer, Listing):
            return _reply(_list_tree(answer, asked.form, now_ms), code)
        if operation.verb == "delete" and _is_gone(answer) and not isinstance(answer, TOLD_WHOLE):
            return _reply(_deleted(answer, asked.form.resource), code)
        return _reply(_shown(answer, asked.form, now_ms), code)


def _reply(tree: dict[str, Any], code: int, more: Mapping[str, str] | None = None) -> Reply:
    return Reply(code, encode_line(tree) + b"\n", more=more or {})


def _is_gone(item: Object) -> bool:
    """Whether a delete has removed the object, and not only marked it."""
    meta = item.meta
    return not meta.finalizers and not (meta.is_terminating and meta.grace_s)


def _deleted(item: Object, resource: Resource) -> dict[str, Any]:
    """What Kubernetes says of most kinds once the object is gone."""
    details = _details(resource.plural, resource, item.meta.name)
    return {**_status("Success"), "details": {**details, "uid": item.meta.uid}}


def _list_tree(listing: Listing, form: AnswerForm, now_ms: int) -> dict[str, Any]:
    """A list: `PodList`, with its revision and where its next page begins."""
    meta = {"resourceVersion": text_of(listing.revision)}
    if listing.more:
        meta["continue"] = text_of(listing.more)
    if form.shape == TABLE:
        rows = _table(listing.items, form, now_ms, meta["resourceVersion"])
        return {**rows, "metadata": meta}
    items = [_shown(item, form, now_ms) for item in listing.items]
    resource = form.resource
    if form.shape == PARTIAL:
        head = {"kind": PARTIAL_LIST, "apiVersion": API_VERSION}
    else:
        head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
        for item in items:
            del item["kind"], item["apiVersion"]
    return {**head, "metadata": meta, "items": items}


def _shown(item: Object, form: AnswerForm, now_ms: int) -> dict[str, Any]:
    """One object in the form that is wanted."""
    if form.shape == TABLE:
        return _table((item,), form, now_ms, text_of(item.meta.revision))
    if form.shape == PARTIAL:
        return partial(item)
    if is_of_events_group(form.resource):
        return {**_head(form.resource), **to_group(to_tree(item))}
    tree = whole(item)
    return {**_head(form.resource), **tree}


def _head(resource: Resource) -> dict[str, Any]:
    return {"kind": resource.kind, "apiVersion": resource.api_version}


def _table(items: Sequence[Object], form: AnswerForm, now_ms: int, revision: str) -> dict[str, Any]:
    cls = CLASSES[form.resource.api_version, form.resource.plural]
    return table(cls, items, now_ms, revision=revision, with_object=form.includes)


# -- refusals -------------------------------------------------------------------------------------


def refused(error: ApiError, request: HttpRequest) -> Reply:
    """The answer to a request that was refused: a whole Status."""
    more = {"retry-after": str(error.retry_after_s)} if error.retry_after_s else {}
    return _reply(status_of(error, _place(request)), error.code, more)


def status_of(error: ApiError, place: Place | None = None) -> dict[str, Any]:
    """The Status of a refusal."""
    message = text_of(error.args[0]) if error.args else ""
    details: dict[str, Any] = {}
    # A request that could not be read, or a history that is gone, is about no object.
    is_of_none = isinstance(error, BadRequest | Expired | TooManyRequests) or _is_of_apply(error)
    if place is not None and not is_of_none:
        resource = place.resource
        named = resource.kind if isinstance(error, Invalid) else resource.plural
        details = _details(named, resource, place.name or name_in(message))
        if isinstance(error, Invalid) and (causes := causes_in(message)):
            details["causes"] = causes
    if error.causes:
        details["causes"] = [_cause(each, error, message) for each in error.causes]
    if error.retry_after_s:
        details["retryAfterSeconds"] = error.retry_after_s
    status = {**_status("Failure"), "message": message, "reason": error.reason}
    return {**status, **({"details": details} if details else {}), "code": error.code}


def _place(request: HttpRequest) -> Place | None:
    try:
        return place_of(request.path)
    except NotFound:
        return None


def _is_of_apply(error: ApiError) -> bool:
    """Whether it names the fields that another manager owns, each as a cause."""
    return isinstance(error, Conflict) and bool(error.causes)


def _cause(cause: str, error: ApiError, message: str) -> dict[str, str]:
    """A cause, as a word that programs look for and a sentence for people."""
    if _is_of_apply(error):
        field, _, conflict = cause.partition(": ")
        return {"reason": OF_APPLY, "message": conflict, "field": field}
    if " " not in cause:
        return {"reason": cause, "message": message}
    reason = {"reason": BUDGET} if isinstance(error, TooManyRequests) else {}
    return {**reason, "message": cause}


def _details(named: str, resource: Resource, name: str) -> dict[str, Any]:
    found = {"name": name, "group": resource.group, "kind": named}
    return {field: value for field, value in found.items() if value}


def _status(outcome: str) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": outcome}


# -- watches --------------------------------------------------------------------------------------


def line_of(delivery: Delivery, form: AnswerForm, now_ms: int) -> bytes:
    """One message of a watch, as one line of JSON."""
    if form.shape == TABLE or delivery.object is None:
        return _line(delivery, form, now_ms)
    return _LAST.line_of(delivery, form)


class _LastLine:
    """The line that was written last: what has changed is told to one watch after another."""

    def __init__(self) -> None:
        self._told: tuple[object, ...] = ()
        self._line = b""

    def line_of(self, delivery: Delivery, form: AnswerForm) -> bytes:
        told = (delivery.type, form, delivery.object)
        # Objects are compared as what they are, and not by their fields: that takes as long.
        if self._told[:2] != told[:2] or self._told[2] is not told[2]:
            self._told, self._line = told, _line(delivery, form, 0)
        return self._line


_LAST = _LastLine()


def _line(delivery: Delivery, form: AnswerForm, now_ms: int) -> bytes:
    with _unseen():
        told = _told(delivery, form, now_ms)
        return encode_line({"type": delivery.type, "object": told}) + b"\n"


def _told(delivery: Delivery, form: AnswerForm, now_ms: int) -> dict[str, Any]:
    if delivery.error is not None:
        return status_of(delivery.error)
    if delivery.type == BOOKMARK:
        revision = text_of(delivery.revision)
        if form.shape == TABLE:
            return _table((), form, now_ms, revision)
        is_partial = form.shape == PARTIAL
        head = {"kind": PARTIAL, "apiVersion": API_VERSION} if is_partial else _head(form.resource)
        return {**head, "metadata": {"resourceVersion": revision, "creationTimestamp": None}}
    assert isinstance(delivery.object, Object)
    return _shown(delivery.object, form, now_ms)
