"""What is said of a pod that no node takes (SCH-68)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from actors.framework.refusal import Refusal


def unfit(nodes: int, refusals: Mapping[str, Refusal], at_once: str = "", after: str = "") -> str:
    """That of so many nodes none takes it, how often each reason was given, and what came of
    preemption. Where no node was asked, why not is said once."""
    counts = Counter(reason for each in refusals.values() for reason in each.reasons)
    reasons = at_once or ", ".join(sorted(f"{n} {reason}" for reason, n in counts.items()))
    text = f"0/{nodes} nodes are available:"
    return "".join([text, *(f" {part}." for part in (reasons, after) if part)])
