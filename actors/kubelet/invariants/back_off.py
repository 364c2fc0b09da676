"""Restarts keep their distance (KUB-17)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.kubelet.containers import Ended, Report
from actors.kubelet.invariants.on_nodes import RESTARTED, News, node_of_record, reports
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step

FIRST_MS, MOST_MS, STABLE_MS = 10_000, 300_000, 600_000
"""Those of the kubelet, written once more: a claim shares no figures with what it judges."""


class RestartsKeepTheirDistance(Invariant):
    """One life of a kubelet starts containers of a pod again at once, then 10 s after they have
    ended, and then after twice the time before, up to 300 s; unless they ran for over 10 minutes.
    And it starts nothing again that the restart policy says is over."""

    name = "restarts_keep_their_distance"
    breach_reason = FORBIDDEN
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self) -> None:
        self._news = News()
        self._waits: dict[Any, int] = {}
        """By kubelet, its life and the uid, how long the next restart has to wait."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for record in self._news.of(evidence, RESTARTED):
            role = evidence.table.roles[record.path.partition("/")[0]]
            for report in reports(evidence, node_of_record(evidence, record)):
                is_it = report.pod.key == record.facts["pod"] and report.restarts
                if not is_it or report.last is None or report.started_ms != record.now_ms:
                    continue
                if wrong := self._wrong_with(role, report, report.last):
                    return wrong
        return None

    def _wrong_with(self, role: Any, report: Report, last: Ended) -> Found | None:
        """What is wrong with a restart after that end; None if nothing is."""
        mine = (role.name, role.lives, report.pod.meta.uid)
        ran_ms = last.ended_ms - last.started_ms
        wait_ms = 0 if ran_ms > STABLE_MS else self._waits.get(mine, 0)
        self._waits[mine] = min(2 * wait_ms, MOST_MS) if wait_ms else FIRST_MS
        waited_ms = report.started_ms - last.ended_ms
        if waited_ms < wait_ms:
            text = f"{role.name} started {report.pod.key} again {waited_ms} ms after its end"
            return Found.of(f"{text}, and had to wait {wait_ms} ms", report.pod, actors=role.name)
        policy = report.pod.spec.restart_policy
        if policy == "Never" or (policy == "OnFailure" and not last.exit_code):
            text = f"{role.name} started {report.pod.key} again, which was over"
            return Found.of(text, report.pod, fields="spec.restart_policy", actors=role.name)
        return None
