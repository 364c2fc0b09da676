"""Delivery: one message of the watch protocol, from a Watch to its reader."""

from __future__ import annotations

import attrs

from testbed.code.quick import quick
from testbed.errors import Expired
from testbed.objects.meta import UNSET, Revision, looked
from testbed.store.change import Change

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
BOOKMARK, ERROR = "BOOKMARK", "ERROR"


@quick
@attrs.frozen
class Delivery:
    """One message of the watch protocol, from a Watch to its reader."""

    type: str
    """ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""
    object: object | None = None
    """The object after the Change; for DELETED its last state, at the revision of the deletion."""
    revision: Revision = UNSET
    """Where a reader may resume: everything that matches up to here has been delivered. Unset for
    ERROR.

    It is the revision of the Change, unless more Changes of the same transaction are still to come
    on this Watch.
    """
    # Apart from what two deliveries are compared by, and shown as: it holds numbers of the Store.
    _change: Change | None = attrs.field(default=None, eq=False, repr=False)
    error: Expired | None = None
    """Why the Watch ends here, for ERROR."""

    @property
    def change(self) -> Change | None:
        """The Change it delivers, for the testbed; None for BOOKMARK and ERROR. It holds numbers
        of the Store, so that an actor's look at it leaves a mark."""
        looked()
        return self._change

    @property
    def key(self) -> str:
        """The key of the object; empty for BOOKMARK and ERROR."""
        return "" if self._change is None else self._change.key
