"""time_to_run: how long an important pod waits until it runs: a bind alone is no use."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, quantile


class TimeToRun(Measure):
    """From the creation of each important pod until its status says Running; nothing without
    kubelets."""

    name: ClassVar[str] = "time_to_run"
    says: ClassVar[str] = "from the creation of an important pod until it runs"
    figures: ClassVar[tuple[Figure, ...]] = (
        quantile("time to run, median", 50), quantile("time to run, p95", 95),
    )  # fmt: skip
    place: ClassVar[int] = 8

    def of(self, history: RunHistory) -> Sample:
        if not history.has_kubelets:
            return Sample()
        times = (
            None if life.ran_ms is None else life.ran_ms - life.created_ms
            for life in history.important
        )
        return Sample(times_ms=tuple(times))
