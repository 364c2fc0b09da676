"""What a scheduler writes is what it has decided (SCH-64, SCH-98)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import Cycles, books_of, node_key
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD
from testbed.objects import Pod
from testbed.turns.found import FORBIDDEN, Found, Wrong, told
from testbed.turns.trace import Step


class DeedsAreDecided(Invariant):
    """A scheduler binds a pod only to the node that it has chosen for that very pod, not for one of
    the same name. It deletes only pods that bear the name of a victim that it has decided on.

    In 1.26 a delete names no uid, so a new pod of the victim's name may be deleted instead. That is
    no violation, but it is counted.
    """

    name = "deeds_are_decided"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self.stale_kills = 0
        """How many pods were deleted that only bore the name of a victim."""
        self._places: set[tuple[str, str, str]] = set()
        """Every placement that was decided: scheduler, uid, node."""
        self._victims: dict[tuple[str, str], set[str]] = {}
        """The uids of all victims that were decided on, by scheduler and key."""

    # A write may take effect long after it was decided, even after its scheduler has crashed. So
    # decisions are never dropped, and are kept by the scheduler's name, not by its life. A request
    # is judged in the turn in which it is served, by the object before it and the one after it.
    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for cycle in self._cycles.of(evidence):
            self._places.add((cycle.who, cycle.pod.meta.uid, cycle.decision.node))
            for pod in cycle.chosen.victims if cycle.chosen else ():
                self._victims.setdefault((cycle.who, pod.key), set()).add(pod.meta.uid)
        request = evidence.served
        if request is None or books_of(request.role.life) is None:
            return None
        for change in evidence.changes:
            old = change.before
            new = change.after
            breach = self._breach_in(request.role.name, old, new) if isinstance(old, Pod) else None
            if breach:
                who, since = request.role.name, change.revision
                return told(breach, before=f"{who} ", actors=who, reason=FORBIDDEN, since=since)
        return None

    def _breach_in(self, who: str, old: Pod, new: object) -> Found | None:
        uid = old.meta.uid
        node = new.spec.node_name if isinstance(new, Pod) else ""
        if node and not old.is_bound and (who, uid, node) not in self._places:
            text = f"has bound {old.key} to {node}, and has not decided so"
            return Found.of(text, old, node_key(node), fields="spec.node_name")
        # With a grace period a delete only sets the deletion timestamp. The first of the two
        # changes is the deed; the removal later on is not.
        is_going = isinstance(new, Pod) and new.meta.is_terminating
        if (new is None or is_going) and not old.meta.is_terminating:
            victims = self._victims.get((who, old.key))
            if victims is None:
                return Found.of(f"has deleted {old.key}, which was to go for nobody", old)
            self.stale_kills += uid not in victims
        return None
