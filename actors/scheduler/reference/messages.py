"""Messages: why a pod has no feasible node, in the words of Kubernetes (SCH-68)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from actors.framework.refusal import Refusal


def unfit(nodes: int, refusals: Mapping[str, Refusal], at_once: str = "", after: str = "") -> str:
    """The message of a FitError: how many nodes give each reason, and the result of preemption.

    If the pod was refused before any node was looked at, `at_once` stands for the reasons.
    """
    counts = Counter(reason for each in refusals.values() for reason in each.reasons)
    reasons = at_once or ", ".join(sorted(f"{n} {reason}" for reason, n in counts.items()))
    text = f"0/{nodes} nodes are available:"
    return "".join([text, *(f" {part}." for part in (reasons, after) if part)])
