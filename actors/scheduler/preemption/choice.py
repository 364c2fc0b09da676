"""Which candidate it is: the node that loses least (SCH-91, SCH-92)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.framework.podinfo import PodInfo
from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.preemption.importance import started_ms

OFFSET = 2**31
"""Added to every priority, so that of negative ones, too, fewer are better."""


def keys_of(victims: Sequence[PodInfo], violations: int, now_ms: int) -> tuple[int, ...]:
    """K1 to K5, each the smaller the better.

    The budgets broken; the priority of the first victim, which is meant to be the highest;
    all priorities together; how many there are; and, of those of the highest priority, how long
    ago the one started that has run the longest.
    """
    highest = max(info.priority for info in victims)
    oldest_ms = min(started_ms(i.pod, now_ms) for i in victims if i.priority == highest)
    total = sum(info.priority for info in victims) + OFFSET * len(victims)
    return (violations, victims[0].priority, total, len(victims), -oldest_ms)


def best_of(candidates: Mapping[str, Candidate]) -> tuple[str, ...]:
    """The nodes that are as good as any, by name."""
    least = min(candidate.keys for candidate in candidates.values())
    return tuple(sorted(name for name, each in candidates.items() if each.keys == least))
