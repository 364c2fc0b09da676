"""machine_minutes: how long all machines of the cloud were there, together."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.machine_life import machines_in
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, time_per_run


class MachineMinutes(Measure):
    """From the request for each machine, or from the start, until it is gone or the Run ends. A
    machine counts while it boots, too, and if it never comes up."""

    name: ClassVar[str] = "machine_minutes"
    says: ClassVar[str] = "from the request for each machine until it is gone or the Run ends"
    figures: ClassVar[tuple[Figure, ...]] = (time_per_run("machine-minutes"),)
    place: ClassVar[int] = 14

    def of(self, history: RunHistory) -> Sample:
        end_ms = history.end_ms
        return Sample(
            sum(
                (end_ms if life.gone_ms is None else life.gone_ms) - life.made_ms
                for life in machines_in(history)
            )
        )
