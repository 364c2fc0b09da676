"""Refusal: why one node does not take a pod."""

from __future__ import annotations

import attrs


@attrs.frozen
class Refusal:
    """Why one node does not take a pod: the first filter that says no, and what it says."""

    filter: str
    reasons: tuple[str, ...]
    """Each thing that is amiss, as the messages have it."""
    is_resolvable: bool = True
    """Whether it could help that other pods go (SCH-57)."""
