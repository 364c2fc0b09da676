"""Delete collection: deletes all objects that are selected, one after another (API-68)."""

from __future__ import annotations

import attrs

from actors.apiserver.call import Call
from actors.apiserver.verbs.delete import delete
from actors.apiserver.verbs.read import check_selector
from testbed.errors import NotFound
from testbed.store.endpoint import BETWEEN, Handler, Operation


def delete_collection(call: Call) -> Handler:
    """List the objects that are selected, and delete each by its name: what has come since stays,
    unless it has such a name by then. The answer is the list. A refusal ends it."""
    check_selector(call)
    operation = call.operation
    listing = call.server.listing(operation, None, live=True)
    for place, item in enumerate(listing.items):
        if place:
            yield BETWEEN
        meta = item.meta
        one = Operation(
            "delete", operation.plural, meta.name, operation.namespace, uid=operation.uid,
            revision=operation.revision, options=operation.options,
        )  # fmt: skip
        try:
            yield from delete(attrs.evolve(call, operation=one))
        except NotFound:
            continue
    return listing
