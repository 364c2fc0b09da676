"""Condition: one fact of an object's status; whether it is true, false or unknown, since when."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.code.quick import quick
from testbed.objects.calendar import whole_second
from testbed.objects.meta import evolved, wire

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"


@quick
@attrs.frozen
class Condition:
    """One fact of an object's status, such as `Ready`, `PodScheduled` or `DisruptionTarget`."""

    type: str = attrs.field(default="", metadata=wire(always=True))
    """Its name: `Ready`, `PodScheduled`; one of each in a status."""
    status: str = attrs.field(default="", metadata=wire(always=True))
    """True, False or Unknown."""
    reason: str = ""
    """Why, in one word."""
    message: str = ""
    """Why, in a sentence."""
    since_ms: int | None = attrs.field(default=None, metadata=wire("lastTransitionTime", "time"))
    """When its status last changed."""
    heartbeat_ms: int | None = attrs.field(default=None, metadata=wire("lastHeartbeatTime", "time"))
    """When a kubelet last reported it, for conditions of nodes."""

    @property
    def is_true(self) -> bool:
        """Whether its status is True."""
        return self.status == TRUE


def find(conditions: Iterable[Condition], type: str) -> Condition | None:
    """The condition of that type, or None."""
    return next((each for each in conditions if each.type == type), None)


def having(conditions: tuple[Condition, ...], new: Condition, now_ms: int) -> tuple[Condition, ...]:
    """These conditions with `new` in place of the one of its type, or at the end. The same tuple if
    nothing changes. `since_ms` moves only when the status changes."""
    old = find(conditions, new.type)
    if old is None:
        return (*conditions, evolved(new, since_ms=whole_second(now_ms)))
    since_ms = old.since_ms if old.status == new.status else whole_second(now_ms)
    new = evolved(new, since_ms=since_ms)
    return conditions if new == old else tuple(new if c is old else c for c in conditions)
