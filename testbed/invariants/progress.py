"""No actor dies of an exception, and none waits for what can never come; on by default."""

from __future__ import annotations

from typing import ClassVar

from testbed.invariant import DEATH, DEATHS, Evidence, Invariant
from testbed.turns.found import DIED, STUCK, About, Found, Wrong
from testbed.turns.trace import Step
from testbed.words import nameless


class NoActorDies(Invariant):
    """No task of any actor ends by an exception. A crash by a fault is none."""

    name = "no_actor_dies"
    reads = frozenset({DEATHS})  # it names the first
    looks_at: ClassVar[frozenset[str]] = frozenset({DEATH})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        death = evidence.deaths[-1]
        about = evidence.named_in(death.error)
        about = About(about.keys, (), (death.actor, *about.actors))
        return Found(str(death), about, DIED, alike_by=f"{death.kind} in {death.at}")


class NobodyIsStuck(Invariant):
    """When nothing can move any more, each task has ended, or waits for a watch or an inbox."""

    name = "nobody_is_stuck"
    reads = frozenset()

    def end(self, evidence: Evidence) -> Wrong:
        if not evidence.waiting:
            return None
        told = "; ".join(evidence.stuck)
        actors = {each.actor for each in evidence.waiting}
        waits = {
            nameless(f"{each.path.partition('/')[2]} waits for {each.waits_for}", actors)
            for each in evidence.waiting
        }
        about, alike_by = evidence.named_in(told), "; ".join(sorted(waits))
        return Found(f"nothing can move, and {told}", about, STUCK, alike_by=alike_by)
