"""Get, list and watch: from the Store, or from what this server has cached."""

from __future__ import annotations

import base64
import binascii

from actors.apiserver.call import Call
from testbed import Pause
from testbed.errors import BadRequest, Expired, Invalid, TimedOut
from testbed.objects.codec import decode, encode_line
from testbed.objects.form import fields_of, wire_name_of
from testbed.objects.meta import Numbered, text_of
from testbed.store.endpoint import Handler, Listing
from testbed.store.footprint import HISTORY
from testbed.store.store_endpoint import ANY, EXACT, NOT_OLDER, TOO_LARGE
from testbed.store.watch import Cursor, Watch

WAIT_MS = 3000
"""How long a read waits until the cache has reached the revision that it names (API-39)."""
SELECTABLE = {
    "pods": (
        "spec.node_name", "spec.restart_policy", "spec.scheduler_name", "status.phase",
        "status.nominated_node_name", "status.pod_ip",
    ),
    "nodes": ("spec.unschedulable",),
    "events": (
        "involved.api_version", "involved.field_path", "involved.kind", "involved.name",
        "involved.namespace", "involved.uid", "reason", "reporting_component", "type",
    ),
}  # fmt: skip
"""The fields, beside name and namespace, that a field selector may name (API-48)."""


UNBOUND = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
    "provided"
)
TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter."
)


def get(call: Call) -> Handler:
    """The object of that name: from the Store, or from the cache if a revision is named
    (API-39)."""
    revision = text_of(call.operation.revision)
    if not revision:
        return call.current()
    yield from _reach(call, revision)
    item = call.server.cached(call.operation.plural, call.operation.key)
    if item is None:
        raise call.not_found()
    return item


def list_(call: Call) -> Handler:
    """All objects that are selected, as one snapshot (API-39, API-40)."""
    # 1. A page continues at the revision of the first page. 2. No revision: of the Store, now.
    # 3. `Exact`, or a limit with a revision: as it was then. 4. Else of the cache, once that has
    # come as far as the revision named. "0" waits for nothing: any state that this server has will
    # do, also one older than what the same reader was shown by another server (API-39).
    check_selector(call)
    revision, options = text_of(call.operation.revision), call.options
    match, token, limit = options.get("match"), options.get("continue"), options.get("limit")
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
    """A watch of every Change after a revision. Without one, or with 0, it begins with the objects
    in the cache (API-41)."""
    check_selector(call)
    server, operation = call.server, call.operation
    revision, options = text_of(operation.revision), call.options
    cursor: Cursor = server.cursor(operation.plural)
    has_point, upto = revision not in ("", ANY), server.store.unmarked.upto(cursor)
    return Watch(
        cursor, operation.selector,
        since=server.since(operation, number(revision)) if has_point else upto,
        fields=options.get("fields"), bookmarks=bool(options.get("bookmarks")),
        first=() if has_point else server.first(operation),
        oldest=server.oldest(cursor, call.now_ms),
    )  # fmt: skip
    yield


def check_selector(call: Call) -> None:
    """Raise BadRequest if it selects by a field that SELECTABLE does not have (API-48)."""
    selector = call.operation.selector
    if not selector.fields and not selector.unlike:
        return
    kind = call.kind
    known = SELECTABLE.get(kind.plural, ())
    for path in [path for path, _ in (*selector.fields, *selector.unlike)]:
        if path not in (*known, "meta.name", "meta.namespace"):
            raise BadRequest(f"field label not supported: {wire_path(kind, path)}")


def wire_path(cls: type | None, path: str) -> str:
    """A dotted path into an object of that class as JSON has it: `spec.nodeName` for
    `spec.node_name`."""
    names = []
    for part in path.split("."):
        fields = {} if cls is None else {field.name: field for field in fields_of(cls)}
        field = fields.get(part)
        names.append(wire_name_of(part) if field is None else field.wire_name)
        cls = None if field is None else field.shape.parts
    return ".".join(names)


def number(revision: str) -> int:
    """A revision as a number; Invalid if it is none."""
    if not revision.isdecimal():
        raise Invalid(f'resourceVersion: Invalid value: "{revision}": strconv.ParseUint: parsing')
    return int(revision)


def _reach(call: Call, revision: str) -> Handler:
    """Wait until the cache has reached that revision; TimedOut if that takes too long (API-39)."""
    if revision == ANY:
        return
    wanted, operation, store = number(revision), call.operation, call.server.store
    # To compare it with how far the cache is needs the order of all commits, unless it was told by
    # a read of the same.
    if not operation.view.has_returned(operation.revision):
        store.look_back()
    cursor = call.server.cursor(operation.plural)
    if store.unmarked.upto(cursor) < wanted:
        yield Pause(cursor=cursor, revision=wanted, until_ms=call.now_ms + WAIT_MS)
    if (upto := store.unmarked.upto(cursor)) < wanted:
        why = f"Too large resource version: {wanted}, current: {upto}"
        store.mark_revision_read()
        raise TimedOut(Numbered(why), retry_after_s=1, causes=(TOO_LARGE,))


def _at(call: Call, revision: int, why: str = "") -> Listing:
    """All objects that are selected, as of that revision; Expired, with that text, if it was
    compacted away."""
    server, operation = call.server, call.operation
    server.store.mark(reads=(HISTORY,))  # also if it is refused
    if operation.revision and not operation.view.has_returned(operation.revision):
        server.store.look_back()
    try:
        return server.listing(operation, revision)
    except Expired as error:
        raise Expired(why or error.args[0]) from error


def _paged(listing: Listing, limit: int | None, after: str = "") -> Listing:
    """The first `limit` objects after a key, with the token of the next page (API-40)."""
    if limit is None and not after:
        return listing
    items = listing.items
    if after:
        items = tuple([item for item in items if item.key > after])
    if limit is None or len(items) <= limit:
        return Listing(items, listing.revision)
    token = encode_line({"rv": text_of(listing.revision), "start": items[limit - 1].key})
    more = base64.urlsafe_b64encode(token).decode()
    return Listing(items[:limit], listing.revision, Numbered(more))


def _continued(token: str) -> tuple[int, str]:
    """The revision and the last key that a token names; BadRequest if it is none."""
    try:
        found = decode(base64.urlsafe_b64decode(token))
        return int(found["rv"]), str(found["start"])
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise BadRequest(f"continue key is not valid: {token!r}") from error
