"""wasted_victims: pods that had to go for another one, which did not get their place (SCH-104)."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.made_room import rooms_in, was_of_use
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class WastedVictims(Measure):
    """Of all room that was made for a pod, only the last one can be of use, and only if the pod
    comes to run there; the victims of any other have died for nothing."""

    name: ClassVar[str] = "wasted_victims"
    says: ClassVar[str] = "pods that went for a pod that did not get their place"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("wasted victims"),)
    place: ClassVar[int] = 4

    def of(self, history: RunHistory) -> Sample:
        rooms = rooms_in(history)
        wasted = [room for room in rooms if not was_of_use(history, rooms, room)]
        return Sample(sum(len(room.victims) for room in wasted))
