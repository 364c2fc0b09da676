"""Patience: a program that asks again and again must wait in between, or come to an end."""

from __future__ import annotations

from typing import ClassVar

from testbed.invariant import SERVED, Evidence, Invariant
from testbed.turns.trace import Step
from testbed.words import counted


class AsksWithinReason(Invariant):
    """No program asks more than `times_max` times within `within_ms` of virtual time, counted from
    the first of them. Without this claim, a program that spins only comes to a limit of the Run,
    which is no breach and has no story."""

    name = "no_program_spins"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def __init__(self, times_max: int, within_ms: int = 1_000) -> None:
        self._times_max = times_max
        self._within_ms = within_ms
        self._asked: dict[str, tuple[int, int]] = {}
        """By actor: when this stretch of time began, and how often it has asked since."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        request = evidence.served
        if request is None or not request.is_served:
            return None
        name, now_ms = request.role.name, evidence.now_ms
        since_ms, times = self._asked.get(name, (now_ms, 0))
        if now_ms >= since_ms + self._within_ms:
            since_ms, times = now_ms, 0
        self._asked[name] = (since_ms, times + 1)
        if times < self._times_max:
            return None
        asked = counted(times + 1, "time")
        return f"{name} has asked {asked} within {self._within_ms} ms, last for {request.operation}"
