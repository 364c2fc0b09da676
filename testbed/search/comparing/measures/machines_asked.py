"""machines_asked: how many machines the cloud was asked for."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.machine_life import machines_in
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class MachinesAsked(Measure):
    """Each machine that was asked for during the Run, whether it came up or not."""

    name: ClassVar[str] = "machines_asked"
    says: ClassVar[str] = "machines that the cloud was asked for"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("machines asked for"),)
    place: ClassVar[int] = 13

    def of(self, history: RunHistory) -> Sample:
        return Sample(sum(not life.was_there for life in machines_in(history)))
