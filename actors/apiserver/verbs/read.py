"""Get, list and watch: from the Store itself, or as far as this server has read it."""

from __future__ import annotations

import base64
import binascii

import attrs

from actors.apiserver.call import Call
from testbed import Pause
from testbed.errors import BadRequest, Expired, Invalid, TimedOut
from testbed.objects.codec import decode, encode_line
from testbed.objects.form import wire_name_of
from testbed.store.endpoint import Handler, Listing
from testbed.store.store_endpoint import ANY, EXACT, NOT_OLDER, TOO_LARGE
from testbed.store.watch import Cursor, Watch

WAIT_MS = 3000
"""How long a read waits for the server to come as far as its reader was (API-39)."""
SELECTABLE = {
    "pods": (
        "spec.node_name", "spec.restart_policy", "spec.scheduler_name", "status.phase",
        "status.nominated_node_name", "status.pod_ip",
    ),
    "nodes": ("spec.unschedulable",),
}  # fmt: skip
"""The fields, beside name and namespace, by which one may select (API-48)."""


UNBOUND = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
    "provided"
)
TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter."
)


def get(call: Call) -> Handler:
    """The object of that name: as it is, or as far as this server has read (API-39)."""
    revision = str(call.operation.revision)
    if not revision:
        return call.found()
    yield from _reach(call, revision)
    item = call.server.as_read(call.operation.plural, call.operation.key)
    if item is None:
        raise call.not_found()
    return item


def list_(call: Call) -> Handler:
    """All that is selected, one snapshot: of now, of what this server has read, or of a revision
    that is named (API-39, API-40)."""
    check_selector(call)
    revision, options = str(call.operation.revision), call.options
    match, token, limit = (options.get(name) for name in ("match", "continue", "limit"))
    if match and not revision:
        raise Invalid(UNBOUND)
    server, operation = call.server, call.operation
    if token:
        at, after = _continued(str(token))
        return _paged(_at(call, at, TOO_OLD), limit, after)
    if not revision:
        return _paged(server.listing(operation, None, live=True), limit)
    if match == EXACT or (limit and revision != ANY and match != NOT_OLDER):
        return _paged(_at(call, number(revision)), limit)
    yield from _reach(call, revision)
    return _paged(server.listing(operation, None), None if revision == ANY else limit)


def watch(call: Call) -> Handler:
    """Every Change after a revision; after none, or 0, it begins with what there is (API-41)."""
    check_selector(call)
    server, operation = call.server, call.operation
    revision, options = str(operation.revision), call.options
    cursor: Cursor = server.cursor(operation.plural)
    has_point = revision not in ("", ANY)
    return Watch(
        cursor, operation.selector,
        since=server.since(operation, number(revision)) if has_point else cursor.revision,
        fields=options.get("fields"), bookmarks=bool(options.get("bookmarks")),
        first=() if has_point else server.first(operation),
        oldest=server.oldest(cursor, call.now_ms),
    )  # fmt: skip
    yield


def check_selector(call: Call) -> None:
    """BadRequest if it selects by a field that its kind is not found by (API-48)."""
    selector, kind = call.operation.selector, call.kind
    known = SELECTABLE.get(kind.plural, ())
    for path in [path for path, _ in (*selector.fields, *selector.unlike)]:
        if path not in (*known, "meta.name", "meta.namespace"):
            raise BadRequest(f"field label not supported: {wire_path(path)}")


def wire_path(path: str) -> str:
    """A dotted path in the words of the wire: `spec.node_name` is `spec.nodeName`."""
    first, *rest = path.split(".")
    return ".".join(["metadata" if first == "meta" else first, *map(wire_name_of, rest)])


def number(revision: str) -> int:
    """The number a server sees in a revision; Invalid if there is none."""
    if not revision.isdecimal():
        raise Invalid(f'resourceVersion: Invalid value: "{revision}": strconv.ParseUint: parsing')
    return int(revision)


def _reach(call: Call, revision: str) -> Handler:
    """Wait until this server has read so far, if a point is named; TimedOut (API-39)."""
    if revision == ANY:
        return
    wanted = number(revision)
    cursor = call.server.cursor(call.operation.plural)
    if cursor.revision < wanted:
        yield Pause(cursor=cursor, revision=wanted, until_ms=call.now_ms + WAIT_MS)
    if cursor.revision < wanted:
        said = f"Too large resource version: {wanted}, current: {cursor.revision}"
        raise TimedOut(said, retry_after_s=1, causes=(TOO_LARGE,))


def _at(call: Call, revision: int, said: str = "") -> Listing:
    """All that is selected, as it was then; Expired if nobody knows any more."""
    try:
        return call.server.listing(call.operation, revision)
    except Expired as error:
        raise Expired(said or str(error)) from error


def _paged(listing: Listing, limit: int | None, after: str = "") -> Listing:
    """So many of them, from behind a key on; and where the next page begins (API-40)."""
    items = [item for item in listing.items if item.key > after]
    if limit is None or len(items) <= limit:
        return attrs.evolve(listing, items=tuple(items))
    token = encode_line({"rv": str(listing.revision), "start": items[limit - 1].key})
    more = base64.urlsafe_b64encode(token).decode()
    return Listing(tuple(items[:limit]), listing.revision, more)


def _continued(token: str) -> tuple[int, str]:
    """The revision and the key that a page ends with; BadRequest."""
    try:
        said = decode(base64.urlsafe_b64decode(token))
        return int(said["rv"]), str(said["start"])
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise BadRequest(f"continue key is not valid: {token!r}") from error
