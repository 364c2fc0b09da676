"""Delivery: one event of the watch protocol, as a Watch tells it to its reader."""

from __future__ import annotations

import attrs

from testbed.errors import Expired
from testbed.objects.meta import UNSET, Revision
from testbed.store.change import Change

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
BOOKMARK, ERROR = "BOOKMARK", "ERROR"


@attrs.frozen
class Delivery:
    """What a Watch tells its reader: one event of the watch protocol."""

    type: str
    """ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""
    object: object | None = None
    """As it is now; for DELETED as it last was, with the revision of the deletion."""
    revision: Revision = UNSET
    """Where to resume: all that matches up to here has been delivered. Unset for ERROR.

    It is the Change's own, unless others of its transaction are still to come on this Watch.
    """
    change: Change | None = None
    """The Change it tells of, for the harness; None for BOOKMARK and ERROR."""
    error: Expired | None = None
    """Why the Watch ends here, for ERROR."""

    @property
    def key(self) -> str:
        """The key of the object it tells of; empty for BOOKMARK and ERROR."""
        return "" if self.change is None else self.change.key
