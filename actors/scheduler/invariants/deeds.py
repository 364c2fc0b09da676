"""What a scheduler does is what it has decided (SCH-64, SCH-98)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import Cycles
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD
from testbed.objects import Pod
from testbed.turns.trace import Step


class DeedsAreDecided(Invariant):
    """Every pod that a scheduler binds is the very one it has chosen that node for, and not another
    of its name; and every pod it deletes bears the name of a victim it has decided on.

    In 1.26 a delete names no uid: whoever bears the victim's name by then goes. Such are counted.
    """

    name = "deeds_are_decided"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self.stale_kills = 0
        """How many pods have gone for a victim of their name."""
        self._places: set[tuple[str, str, str]] = set()
        """Who was to go where: scheduler, uid, node."""
        self._victims: dict[tuple[str, str], set[str]] = {}
        """Whose going was decided: the uids, by scheduler and key."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for cycle in self._cycles.of(evidence):
            self._places.add((cycle.who, cycle.pod.meta.uid, cycle.decision.node))
            for pod in cycle.chosen.victims if cycle.chosen else ():
                self._victims.setdefault((cycle.who, pod.key), set()).add(pod.meta.uid)
        request = evidence.served
        life = None if request is None else request.role.life
        if request is None or life is None or "scheduler" not in life.shown:
            return None
        for change in evidence.changes:
            old = None if change.old is None else change.old.value
            new = None if change.new is None else change.new.value
            said = self._said_of(request.role.name, old, new) if isinstance(old, Pod) else ""
            if said:
                return f"{request.role.name} {said}"
        return None

    def _said_of(self, who: str, old: Pod, new: object) -> str:
        uid = old.meta.uid
        node = new.spec.node_name if isinstance(new, Pod) else ""
        if node and not old.is_bound and (who, uid, node) not in self._places:
            return f"has bound {old.key} to {node}, and has not decided so"
        is_going = isinstance(new, Pod) and new.meta.is_terminating
        if (new is None or is_going) and not old.meta.is_terminating:
            victims = self._victims.get((who, old.key))
            if victims is None:
                return f"has deleted {old.key}, which was to go for nobody"
            self.stale_kills += uid not in victims
        return ""
