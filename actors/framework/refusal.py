"""Refusal: why a filter refuses a node."""

from __future__ import annotations

import attrs


@attrs.frozen
class Refusal:
    """Why a node refuses a pod: the first filter that says no, and its reasons."""

    filter: str
    reasons: tuple[str, ...]
    """Everything that stands against it, in the words of Kubernetes."""
    is_resolvable: bool = True
    """Whether preemption may help: `Unschedulable`, not `UnschedulableAndUnresolvable` (SCH-57)."""
