"""time_to_bind: how long an important pod waits for its node."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, quantile


class TimeToBind(Measure):
    """From the creation of each important pod until it is bound."""

    name: ClassVar[str] = "time_to_bind"
    says: ClassVar[str] = "from the creation of an important pod to its bind"
    figures: ClassVar[tuple[Figure, ...]] = (
        quantile("time to bind, median", 50), quantile("time to bind, p95", 95),
    )  # fmt: skip
    place: ClassVar[int] = 7

    def of(self, history: RunHistory) -> Sample:
        times = (
            None if life.bound_ms is None else life.bound_ms - life.created_ms
            for life in history.important
        )
        return Sample(times_ms=tuple(times))
