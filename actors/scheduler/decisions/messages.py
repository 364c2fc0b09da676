"""Why a pod is not scheduled, in the words of the real one (SCH-68)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from actors.framework.refusal import Refusal

NO_NODES = "no nodes available to schedule pods"


def counted_reasons(refusals: Iterable[Refusal]) -> dict[str, int]:
    """How many nodes give each reason."""
    counts: dict[str, int] = {}
    for refusal in refusals:
        for reason in refusal.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def fit_error(nodes: int, reasons: Mapping[str, int], said: str = "", tried: str = "") -> str:
    """That so many nodes do not take a pod.

    `said` is what stands for all of their reasons if a filter refused them together; `tried` is
    what came of preemption, and has a full stop of its own.
    """
    listed = said or ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    parts = [f"0/{nodes} nodes are available:"]
    parts += [f"{part}." for part in (listed, tried) if part]
    return " ".join(parts)
