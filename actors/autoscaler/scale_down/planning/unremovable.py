"""Unremovable nodes: why each stays, and which need not be looked at again for a while."""

from __future__ import annotations

from collections.abc import Container, Mapping

from actors.autoscaler.pass_record import Unremovable

DISABLED = "ScaleDownDisabledAnnotation"
NOT_AUTOSCALED = "NotAutoscaled"
NOT_UNNEEDED_LONG_ENOUGH = "NotUnneededLongEnough"
NOT_UNREADY_LONG_ENOUGH = "NotUnreadyLongEnough"
MIN_SIZE_REACHED = "NodeGroupMinSizeReached"
RESOURCE_LIMIT = "MinimalResourceLimitExceeded"
BEING_DELETED = "CurrentlyBeingDeleted"
NOT_UNDERUTILISED = "NotUnderutilized"
OTHER_REASON = "NotUnneededOtherReason"
RECENTLY_UNREMOVABLE = "RecentlyUnremovable"
NO_PLACE = "NoPlaceToMovePods"
BLOCKED_BY_POD = "BlockedByPod"
UNEXPECTED = "UnexpectedError"
"""The reasons, in the words of the autoscaler."""


class UnremovableNodes:
    """The reasons of the last pass, and until when the verdict of a simulation is believed.

    A simulation is expensive, so a node that it found unremovable is left alone for five minutes.
    What costs nothing, such as its utilization, is looked at in every pass (CA-27).
    """

    def __init__(self) -> None:
        self._reasons: dict[str, Unremovable] = {}
        self._until_ms: dict[str, int] = {}
        self._doubtful: dict[str, None] = {}

    @property
    def reasons(self) -> Mapping[str, Unremovable]:
        """Why each node stays, by name."""
        return {name: self._reasons[name] for name in sorted(self._reasons)}

    def begin(self, nodes: Container[str], now_ms: int) -> None:
        """A pass begins with these nodes: forget all reasons, and what is no longer believed."""
        self._reasons = {}
        believed = [name for name, until in self._until_ms.items() if until > now_ms]
        self._until_ms = {name: self._until_ms[name] for name in believed if name in nodes}
        self._doubtful = {name: None for name in self._doubtful if name in self._until_ms}

    def add(self, name: str, why: Unremovable, until_ms: int | None = None) -> None:
        """A node stays; with `until_ms`, it is not looked at again before."""
        self._reasons[name] = why
        if until_ms is not None:
            self._until_ms[name] = until_ms
            self._doubtful.pop(name, None)

    def has_reason(self, name: str) -> bool:
        """Whether it is known why the node stays."""
        return name in self._reasons

    def is_recent(self, name: str) -> bool:
        """Whether a simulation found it unremovable a short while ago."""
        return name in self._until_ms

    def doubt(self) -> None:
        """There is news: another simulation might come to another verdict."""
        self._doubtful = dict.fromkeys(self._until_ms)

    @property
    def has_doubtful(self) -> bool:
        """Whether any verdict is believed that is older than the news."""
        return bool(self._doubtful)

    def digest(self, now_ms: int) -> object:
        """What it believes; times count from now."""
        believed = tuple((name, at - now_ms) for name, at in sorted(self._until_ms.items()))
        return believed, tuple(sorted(self._doubtful))
