"""Create: names a new object, completes it, admits it and commits it with a uid."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import rules
from actors.apiserver.admission import steps as admission
from actors.apiserver.call import Call, invalid
from actors.apiserver.verbs.ownership import noted
from testbed.errors import AlreadyExists, BadRequest, InternalError
from testbed.objects import Object
from testbed.objects.settled import settled
from testbed.store.endpoint import Handler
from testbed.store.footprint import Footprint


def create(call: Call) -> Handler:
    """1. Name and complete the object. 2. Admission changes or refuses it; it looks at other
    objects, so other requests may come between. 3. Commit it, if its name is still free (API-8)."""
    item = rules.complete(settled(_named(call, body_of(call))))
    return (yield from made(call, noted(call, item)))


def made(call: Call, item: Any) -> Handler:
    """The same for an object that has its name and its defaults."""
    if item.meta.revision and str(item.meta.revision) != "0":
        raise InternalError("resourceVersion should not be set on objects to be created")
    admitted = admission.admit(call, item)
    item = yield from (admitted if call.operation.name else _announcing(item.key, admitted))
    there = call.current_at(item.key)
    if there is not None:
        gone = "object is being deleted: " if there.meta.is_terminating else ""
        raise AlreadyExists(f'{gone}{call.resource} "{item.meta.name}" already exists')
    return call.put(call.server.stamp(call.caller, call.now_ms, item))


def body_of(call: Call) -> Any:
    """The object to write; BadRequest if its kind, name or namespace is not that of the request."""
    body, operation = call.operation.body, call.operation
    if not isinstance(body, Object) or body.plural != operation.plural:
        raise BadRequest(f"{operation}: expected a {call.kind.kind} as its body, found {body!r}")
    check_is_named(call, body)
    return body


def check_is_named(call: Call, body: Object) -> None:
    """Raise BadRequest if the body has another name or namespace than the request."""
    operation = call.operation
    if operation.namespace and body.meta.namespace != operation.namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if body.meta.name != operation.name:
        raise BadRequest(
            f"the name of the object ({body.meta.name}) does not match the name on the URL "
            f"({operation.name})"
        )


def _announcing(key: str, parts: Handler) -> Handler:
    """The same parts, where each Pause announces that the next may touch `key`.

    What a request may touch is foreseen from what it says, and a generated name does not stand
    in it. So every later part announces that name.
    """
    may = Footprint(frozenset({key}), frozenset({key}))
    now_ms: int | None = None
    while True:
        try:
            pause = parts.send(now_ms)
        except StopIteration as done:
            return done.value
        now_ms = yield attrs.evolve(pause, may=may)


def _named(call: Call, item: Any) -> Any:
    """The object with its name, or with one that the server generates for it (API-9)."""
    meta = item.meta
    if meta.name:
        return item
    if not meta.generate_name:
        raise invalid(
            type(item), "", "metadata.name", "Required value: name or generateName is required"
        )
    name = call.server.give_name(meta, call.caller)
    return item.with_meta(name=name)
