"""race_window: how long room that was made waits for its pod."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.made_room import rooms_in
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, quantile


class RaceWindow(Measure):
    """From each decision to make room for an important pod until it is bound: as long, another pod
    may come first. It is zero if the pod was bound before, as where kubelets make room."""

    name: ClassVar[str] = "race_window"
    says: ClassVar[str] = "from a decision to make room for an important pod to its bind"
    figures: ClassVar[tuple[Figure, ...]] = (
        quantile("race window, median", 50), quantile("race window, p95", 95),
    )  # fmt: skip
    place: ClassVar[int] = 6

    def of(self, history: RunHistory) -> Sample:
        important = {life.pod.meta.uid for life in history.important}
        times = []
        for room in rooms_in(history):
            if room.preemptor not in important:
                continue
            bound_ms = history.pods[room.preemptor].bound_ms
            times.append(None if bound_ms is None else max(bound_ms - room.at_ms, 0))
        return Sample(times_ms=tuple(times))
