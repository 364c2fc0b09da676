"""No actor dies of an exception, and none waits for what can never come; on by default."""

from __future__ import annotations

from typing import ClassVar

from testbed.invariant import DEATH, DEATHS, Evidence, Invariant
from testbed.turns.trace import Step


class NoActorDies(Invariant):
    """No task of any actor ends by an exception. A crash by a fault is none."""

    name = "no_actor_dies"
    reads = frozenset({DEATHS})  # it names the first
    looks_at: ClassVar[frozenset[str]] = frozenset({DEATH})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        death = evidence.deaths[-1]
        return f"{death.path} died of {death.error} at {death.place}"


class NobodyIsStuck(Invariant):
    """When nothing can move any more, each task has ended, or waits for a watch or an inbox."""

    name = "nobody_is_stuck"
    reads = frozenset()

    def end(self, evidence: Evidence) -> str | None:
        return f"nothing can move, and {'; '.join(evidence.stuck)}" if evidence.stuck else None
