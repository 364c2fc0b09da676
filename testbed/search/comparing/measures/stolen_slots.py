"""stolen_slots: room that was made for one pod, and that a lesser one took (CTL-52)."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run
from testbed.search.comparing.taken_room import taken_rooms_in


class StolenSlots(Measure):
    """Of the lost slots, those that a pod took which is not more important."""

    name: ClassVar[str] = "stolen_slots"
    says: ClassVar[str] = "room made for one pod that another took, no more important"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("stolen slots"),)
    place: ClassVar[int] = 2

    def of(self, history: RunHistory) -> Sample:
        taken = taken_rooms_in(history)
        return Sample(sum(each.thief.priority <= each.loser.priority for each in taken))
