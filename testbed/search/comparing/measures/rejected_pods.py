"""rejected_pods: pods that were bound, and that the kubelet did not admit."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class RejectedPods(Measure):
    """Each pod that was bound and has failed before any of it ran."""

    name: ClassVar[str] = "rejected_pods"
    says: ClassVar[str] = "pods that were bound and failed before they ran"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("rejected pods"),)
    place: ClassVar[int] = 10

    def of(self, history: RunHistory) -> Sample:
        return Sample(sum(life.node != "" and life.was_rejected for life in history.pods.values()))
