"""api_writes: how much is written to the API server."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class ApiWrites(Measure):
    """All writes that have taken effect, of every kind and program."""

    name: ClassVar[str] = "api_writes"
    says: ClassVar[str] = "writes that took effect, of all kinds and programs"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("API writes"),)
    place: ClassVar[int] = 12

    def of(self, history: RunHistory) -> Sample:
        return Sample(len(history.commits))
