"""never_ran: pods that got a node, and ended before anything of them ran."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class NeverRan(Measure):
    """Each pod that was bound and has failed before it ran: its kubelet did not admit it, or ended
    it again while it waited for its room."""

    name: ClassVar[str] = "never_ran"
    says: ClassVar[str] = "pods that were bound and failed before they ran"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("never ran"),)
    place: ClassVar[int] = 11

    def of(self, history: RunHistory) -> Sample:
        return Sample(sum(life.failed_unstarted for life in history.pods.values()))
