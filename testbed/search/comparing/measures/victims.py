"""victims: pods that had to go for a more important one."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.made_room import rooms_in
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class Victims(Measure):
    """Each pod that a program has ended to make room, once."""

    name: ClassVar[str] = "victims"
    says: ClassVar[str] = "pods that had to go for others"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("victims"),)
    place: ClassVar[int] = 3

    def of(self, history: RunHistory) -> Sample:
        return Sample(sum(len(room.victims) for room in rooms_in(history)))
