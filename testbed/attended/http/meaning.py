"""Meaning: what an HTTP request asks for: an Operation for the API server, or an answer at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.attended.http.answer_form import AnswerForm, form_of
from testbed.attended.http.bodies import (
    how_of,
    object_of,
    object_tree,
    part_of,
    patch_of,
    read_as,
)
from testbed.attended.http.discovery import discovered
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.openapi import described
from testbed.attended.http.place import NOWHERE, Place, place_of
from testbed.attended.http.reply import Reply
from testbed.attended.http.reviews import reviewed
from testbed.attended.http.selecting import selector_of
from testbed.errors import BadRequest, Invalid, MethodNotAllowed, NotFound
from testbed.objects.binding import Binding, DeleteOptions, Eviction
from testbed.objects.meta import Map, Revision
from testbed.objects.scale import Scale
from testbed.store.endpoint import Operation

BINDING, EVICTION, SCALE, STATUS = "binding", "eviction", "scale", "status"
NOT_SO = "the server does not allow this method on the requested resource"
POLICIES = ("Background", "Foreground", "Orphan")
AGENT_MAX = 128
"""How much of its User-Agent names a program that names no field manager."""
FIRST = "1"
"""The revision of a list of a kind that is always empty."""


@attrs.frozen
class ToServer:
    """An Operation to be asked of the API server; its answer comes once."""

    operation: Operation
    form: AnswerForm


@attrs.frozen
class ToWatch:
    """A watch to be asked of the API server; its answer is a stream of lines."""

    operation: Operation
    form: AnswerForm
    timeout_s: int | None = None
    """After how long the program wants it to end; None: it does not say."""


@attrs.frozen
class Silence:
    """A watch of a kind that is always empty: it opens and says nothing."""

    timeout_s: int | None = None
    """After how long the program wants it to end; None: it does not say."""


Make = Callable[[HttpRequest, Place], Operation]
Meaning = ToServer | ToWatch | Reply | Silence


def meaning_of(request: HttpRequest, program: str = "") -> Meaning:
    """What the request of that program asks for; an ApiError if it can be told at once that it is
    refused."""
    at_once = discovered(request) or described(request) or reviewed(request, program)
    if at_once is not None:
        return at_once
    place = place_of(request.path)
    form = form_of(request, place.resource)
    if place.cls is None:
        return _of_nothing(request, place)
    if place.subresource not in ("", *(part.name for part in place.resource.subresources)):
        raise NotFound(NOWHERE)
    if request.method == "GET" and not place.name and not place.subresource:
        read = _watch if _is_set(request, "watch") else _list
        return read(request, place, form)
    make = _create if _may_create(request, place) else _of_an_object(request, place)
    if make is None:
        raise MethodNotAllowed(NOT_SO)
    if request.method != "GET" and request.asks("dryRun"):
        raise BadRequest("dryRun: this testbed cannot try a write without doing it")
    return ToServer(make(request, place), form)


def _may_create(request: HttpRequest, place: Place) -> bool:
    """Whether it is a POST to a place where something can be created."""
    is_whole = not place.name and place.resource.is_namespaced == bool(place.namespace)
    return request.method == "POST" and (bool(place.subresource) or is_whole)


def _of_an_object(request: HttpRequest, place: Place) -> Make | None:
    """What makes the Operation of a request that names an object or a part of one, or deletes a
    whole collection; None if that cannot be done."""
    is_all = request.method == "DELETE" and not place.name and not place.subresource
    if is_all and "deletecollection" in place.resource.verbs:
        return _delete_all if place.resource.is_namespaced == bool(place.namespace) else None
    can_only_be_made = place.subresource in (BINDING, EVICTION)
    return METHODS.get(request.method) if place.name and not can_only_be_made else None


def _of_nothing(request: HttpRequest, place: Place) -> Meaning:
    """The answer for a kind that is not modelled: there is none of it, and never will be."""
    resource = place.resource
    if request.method == "GET" and not place.name:
        if _is_set(request, "watch"):
            return Silence(_timeout(request))
        tree = {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.api_version,
            "metadata": {"resourceVersion": FIRST},
            "items": [],
        }
        return Reply.saying(tree)
    named = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    if request.method == "GET":
        raise NotFound(f'{named} "{place.name}" not found')
    raise NotFound(
        f"{NOWHERE}: this testbed does not model {resource.kind} ({named}): it can be listed and "
        "watched, and is always empty"
    )


# -- reads ----------------------------------------------------------------------------------------


def _get(request: HttpRequest, place: Place) -> Operation:
    # A status is read as a whole object, so to read it is to read the object.
    part = "" if place.subresource == STATUS else place.subresource
    return _about(place, "get", revision=_revision(request), subresource=part)


def _list(request: HttpRequest, place: Place, form: AnswerForm) -> ToServer:
    options = {
        "match": request.asks("resourceVersionMatch"),
        "continue": request.asks("continue"),
        "limit": _number(request, "limit"),
    }
    return ToServer(_reading(request, place, "list", options), form)


def _watch(request: HttpRequest, place: Place, form: AnswerForm) -> ToWatch:
    for name in ("sendInitialEvents", "resourceVersionMatch"):
        if request.asks(name):
            raise Invalid(
                f'ListOptions.meta.k8s.io "" is invalid: {name}: Forbidden: {name} is forbidden '
                "for watch"
            )
    options = {"bookmarks": _is_set(request, "allowWatchBookmarks")}
    operation = _reading(request, place, "watch", options)
    return ToWatch(operation, form, _timeout(request))


def _reading(
    request: HttpRequest, place: Place, verb: str, options: Mapping[str, Any]
) -> Operation:
    return Operation(
        verb, place.resource.plural, selector=selector_of(request, place),
        revision=_revision(request),
        options=_sorted({name: value for name, value in options.items() if value}),
    )  # fmt: skip


def _revision(request: HttpRequest) -> Revision:
    return Revision(request.asks("resourceVersion"))


# -- writes ---------------------------------------------------------------------------------------


def _create(request: HttpRequest, place: Place) -> Operation:
    match place.subresource:
        case "binding":
            body: Any = part_of(request, place, Binding, ("v1",))
        case "eviction":
            body = part_of(request, place, Eviction, ("policy/v1", "policy/v1beta1"))
        case _:
            body = object_of(request, place)
    meta = body.meta
    name = place.name or meta.name
    if place.subresource:
        return _about(place, "create", name=name, body=body)
    return _about(
        place, "create", name=name, body=body, revision=meta.revision, options=Map(_by(request))
    )


def _update(request: HttpRequest, place: Place) -> Operation:
    body: Any = (
        part_of(request, place, Scale, (Scale.api_version,))
        if place.subresource == SCALE
        else object_of(request, place)
    )
    revision = body.meta.revision
    return _about(place, "update", body=body, revision=revision, options=Map(_by(request)))


def _patch(request: HttpRequest, place: Place) -> Operation:
    how = how_of(request)
    options: dict[str, Any] = {"how": how, **_by(request)}
    if how == "apply":
        if not request.asks("fieldManager"):
            raise _wrong(
                "PatchOptions", "fieldManager: Required value: is required for apply patch"
            )
        options["force"] = _is_set(request, "force")
    elif _is_set(request, "force"):
        raise _wrong("PatchOptions", "force: Forbidden: may not be specified for non-apply patch")
    return _about(place, "patch", body=patch_of(request, place), options=_sorted(options))


def _by(request: HttpRequest) -> dict[str, str]:
    """Who writes, for the record of who owns which field (API-66)."""
    agent = request.headers.get("user-agent", "").partition("/")[0]
    name = request.asks("fieldManager") or agent[:AGENT_MAX]
    return {"field_manager": name} if name else {}


def _delete(request: HttpRequest, place: Place) -> Operation:
    return _about(place, "delete", **_how_to_delete(request))


def _delete_all(request: HttpRequest, place: Place) -> Operation:
    chosen = selector_of(request, place)
    return _about(place, "deletecollection", selector=chosen, **_how_to_delete(request))


def _how_to_delete(request: HttpRequest) -> dict[str, Any]:
    """The preconditions and the options of a delete."""
    given = _delete_options(request)
    if given.dry_run:
        raise BadRequest("dryRun: this testbed cannot try a delete without doing it")
    options: dict[str, Any] = {}
    if given.grace_s is not None:
        options["grace_s"] = given.grace_s
    if given.propagation_policy:
        options["propagation"] = given.propagation_policy
    expected = given.preconditions
    return {
        "uid": expected.uid, "revision": expected.revision, "options": _sorted(options),
    }  # fmt: skip


def _delete_options(request: HttpRequest) -> DeleteOptions:
    """How to delete: as the body says, or else as the query does."""
    kind = "DeleteOptions"
    if request.body.strip():
        tree = object_tree(request, kind)
        orphans = isinstance(tree, dict) and tree.get("orphanDependents")
        options = read_as(DeleteOptions, tree, kind, "v1")
    else:
        policy, orphans = request.asks("propagationPolicy"), None
        if request.asks("orphanDependents"):
            orphans = _is_set(request, "orphanDependents")
        options = DeleteOptions(_number(request, "gracePeriodSeconds"), propagation_policy=policy)
    policy = options.propagation_policy
    if policy and policy not in POLICIES:
        known = ", ".join(f'"{each}"' for each in POLICIES)
        raise _wrong(
            kind, f'propagationPolicy: Unsupported value: "{policy}": supported values: {known}'
        )
    if isinstance(orphans, bool) and not policy:
        # The older way to say the same.
        return attrs.evolve(options, propagation_policy="Orphan" if orphans else "Background")
    return options


def _sorted(options: Mapping[str, Any]) -> Map[Any]:
    """The options in the order in which a line has them, so that they are the same if read back."""
    return Map({name: options[name] for name in sorted(options)})


def _about(place: Place, verb: str, *, name: str = "", **more: Any) -> Operation:
    """An Operation about the object that the place names."""
    part = more.pop("subresource", place.subresource)
    return Operation(
        verb, place.resource.plural, name or place.name, place.namespace, subresource=part, **more
    )


METHODS: Mapping[str, Make] = {"GET": _get, "PUT": _update, "PATCH": _patch, "DELETE": _delete}
"""By method, what makes the Operation about an object that the path names."""


# -- the query ------------------------------------------------------------------------------------


def _wrong(what: str, why: str) -> Invalid:
    return Invalid(f'{what}.meta.k8s.io "" is invalid: {why}')


def _is_set(request: HttpRequest, name: str) -> bool:
    """Whether a flag of the query is set, as Kubernetes reads it: `watch`, `watch=1`, `watch=true`,
    but not `watch=0` or `watch=false`."""
    value = next((value for each, value in request.query if each == name), "false")
    return value.lower() not in ("0", "false")


def _timeout(request: HttpRequest) -> int | None:
    """After how long a watch is to end; zero says nothing, as in Kubernetes."""
    return _number(request, "timeoutSeconds") or None


def _number(request: HttpRequest, name: str) -> int | None:
    """A number of the query; None if it is not there; BadRequest if it is none."""
    text = request.asks(name)
    if not text:
        return None
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
        raise BadRequest(f'{name}: strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)
