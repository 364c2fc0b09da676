"""lost_slots: room that was made for one pod, and that another took (CTL-52)."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run
from testbed.search.comparing.taken_room import taken_rooms_in


class LostSlots(Measure):
    """Room that any other pod took, also a more important one, which may take it (SCH-102)."""

    name: ClassVar[str] = "lost_slots"
    says: ClassVar[str] = "room made for one pod that went to another"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("lost slots"),)
    place: ClassVar[int] = 1

    def of(self, history: RunHistory) -> Sample:
        return Sample(len(taken_rooms_in(history)))
