"""Cases of filtering, nomination and preemption: one pod, one cluster, one decision."""

from __future__ import annotations

import attrs

from tests.conformance.answers import Path, differences
from tests.conformance.by_reference import ByReference
from tests.conformance.by_scheduler import ByScheduler
from tests.conformance.preempt_case import case_of
from tests.conformance.shape import Line


@attrs.frozen
class Preempt:
    """A case that every path answers."""

    name: str = "preempt"
    why_not: str = ""
    tally: str = "conformance"
    spread: int = 1
    paths: tuple[Path, ...] = (ByReference(), ByScheduler())

    def fits(self, line: Line) -> bool:
        """Whether the line has a pod to schedule, and what was decided for it."""
        case, expect = line.get("case"), line.get("expect")
        return (
            isinstance(case, dict)
            and isinstance(expect, dict)
            and "pending" in case
            and "post_filter_code" in expect
        )

    def differences(self, line: Line) -> list[str]:
        """The differences of every path."""
        case = case_of(line["case"])
        return [
            f"{path.name}: {text}"
            for path in self.paths
            for text in differences(path.answers(case), line["expect"])
        ]
