"""preemptions: how often room was made for each pod that came to run by it (CTL-52)."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.made_room import rooms_in, was_placed
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, share


class Preemptions(Measure):
    """All preemptions, divided by the number of pods that room was made for and that came to
    run."""

    name: ClassVar[str] = "preemptions"
    says: ClassVar[str] = "preemptions for each pod that came to run by one"
    figures: ClassVar[tuple[Figure, ...]] = (share("preemptions per placement"),)
    place: ClassVar[int] = 5

    def of(self, history: RunHistory) -> Sample:
        rooms = rooms_in(history)
        pods = dict.fromkeys(room.preemptor for room in rooms)
        return Sample(len(rooms), sum(was_placed(history, uid) for uid in pods))
