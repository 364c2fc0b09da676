"""Choice: which candidate is the cheapest: pickOneNodeForPreemption (SCH-91, SCH-92)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.framework.podinfo import PodInfo
from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.preemption.importance import started_ms

OFFSET = 2**31
"""Added to each priority, so that fewer victims are cheaper even if priorities are negative."""


def keys_of(victims: Sequence[PodInfo], violations: int, now_ms: int) -> tuple[int, ...]:
    """The five criteria K1 to K5 of a candidate. The node with the smallest tuple is chosen."""
    # K1: the fewest budgets broken. K2: the lowest first victim, meant as "the most important
    # victim is the least important"; it is that only if the victims are sorted (SCH-87). K3: the
    # lowest sum of priorities. K4: the fewest victims. K5: among the victims of the highest
    # priority, the one that has run longest should have started as late as possible, so that
    # little work is lost: hence the minus.
    highest = max([info.priority for info in victims])
    oldest_ms = min([started_ms(i.pod, now_ms) for i in victims if i.priority == highest])
    total = sum([info.priority for info in victims]) + OFFSET * len(victims)
    return (violations, victims[0].priority, total, len(victims), -oldest_ms)


def best_of(candidates: Mapping[str, Candidate]) -> tuple[str, ...]:
    """The names of the cheapest nodes, sorted; more than one if they tie."""
    least = min(candidate.keys for candidate in candidates.values())
    return tuple(sorted(name for name, each in candidates.items() if each.keys == least))
