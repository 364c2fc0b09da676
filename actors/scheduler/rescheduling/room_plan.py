"""RoomPlan: for which pod a Rescheduler has made room, and where. It is in its memory alone."""

from __future__ import annotations

import attrs


@attrs.frozen
class RoomPlan:
    """Room that was made for one pod."""

    key: str
    uid: str
    node: str
    made_ms: int
    is_guarded: bool = False
    """Whether the node is tainted meanwhile (CTL-53)."""
