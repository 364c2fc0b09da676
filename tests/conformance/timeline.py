"""Timelines: what the whole scheduler wrote and when, and how wide two of its windows were."""

from __future__ import annotations

import attrs

from tests.conformance import agreement
from tests.conformance.recorded import Recording
from tests.conformance.retold import did
from tests.conformance.shape import Line
from tests.conformance.windows import BIND_MS, WATCH_MS, bound, queues, slow
from tests.models.timelines import Cluster, creates

TIMELINES = "timelines"


@attrs.frozen
class Timeline:
    """What one scheduler wrote in one setting, and how each pod ended."""

    name: str = "timeline"
    why_not: str = ""
    tally: str = TIMELINES
    spread: int = 1

    def fits(self, line: Line) -> bool:
        """Whether its cycles are told."""
        return "observed" in line and "attempts" in line

    def differences(self, line: Line) -> list[str]:
        """In what ours writes, when it tries which pod, and how all ends."""
        recording = Recording.of(line)
        ours = did(recording)
        found = [
            *agreement.of_surroundings(recording.surroundings(), ours.visible),
            *agreement.of_writes(recording.writes(), ours.writes),
            *agreement.of_attempts(recording.tried(), ours.attempts),
            *agreement.of_ends(recording.final, ours.final),
        ]
        return [*found, ours.again] if found else []


@attrs.frozen
class OneSlot:
    """How often two schedulers both bound a pod to the only slot, by the time between the pods."""

    name: str = "one slot"
    why_not: str = ""
    tally: str = TIMELINES
    spread: int = 1

    def fits(self, line: Line) -> bool:
        """Whether it was counted by how far apart the pods were created."""
        return "by_stagger" in line

    def differences(self, line: Line) -> list[str]:
        """Both bind, by ours, where both were seen to bind; and not where they never were."""
        found = []
        for seen in line["by_stagger"]:
            watch_ms = max(round(seen["watch_lag_ms"]), WATCH_MS)
            race = slow(BIND_MS, watch_ms, "s1", "s2")
            is_both = len(bound(race, round(seen["stagger_ms"]))) == 2
            if seen["both_bound"] == (0 if is_both else seen["trials"]):
                found.append(f"ours binds {'both' if is_both else 'one'}, recorded {seen}")
        return found


@attrs.frozen
class FirstQueue:
    """Which queue the pods of GT-1 mostly entered after their first cycle, by how late the watch
    was."""

    name: str = "first queue"
    why_not: str = ""
    tally: str = TIMELINES
    spread: int = 1

    def fits(self, line: Line) -> bool:
        """Whether it was counted by how late the watch was."""
        return "by_watch_lag" in line

    def differences(self, line: Line) -> list[str]:
        """One that mostly backed off must, and one that mostly did not must not."""
        found = []
        for seen in line["by_watch_lag"]:
            ours = queues(GT_1, round(seen["watch_lag_ms"]))
            for pod, place in ours.items():
                is_often = seen[f"{pod.upper()}_to_backoff"] * 2 > seen["trials"]
                if is_often is not (place == "Backoff"):
                    found.append(f"{pod} enters {place}, recorded {seen}")
        return found


GT_1 = Cluster(
    [{"name": "node1", "cpu": "10"}],
    [
        {"name": "a", "priority": 100, "cpu": "5", "grace": 60, "node": "node1"},
        {"name": "b", "priority": 100, "cpu": "5", "grace": 30, "node": "node1"},
    ],
    deeds=creates(
        [
            {"t": 0, "name": "c", "priority": 1000, "cpu": "10"},
            {"t": 0, "name": "d", "priority": 50, "cpu": "2"},
        ]
    ),
)
"""The set-up that the line only names."""
