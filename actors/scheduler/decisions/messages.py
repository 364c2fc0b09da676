"""The messages that say why a pod is not scheduled, in the words of Kubernetes (SCH-68)."""

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


def fit_error(nodes: int, reasons: Mapping[str, int], at_once: str = "", tried: str = "") -> str:
    """The message of a FitError: no node is feasible, and how many nodes give each reason.

    `at_once` stands in the place of these reasons if one filter refused all nodes together. `tried`
    is the result of preemption, with its own full stop.
    """
    listed = at_once or ", ".join(sorted([f"{n} {reason}" for reason, n in reasons.items()]))
    message = f"0/{nodes} nodes are available:"
    if listed:
        message += f" {listed}."
    return f"{message} {tried}." if tried else message
