"""No actor decides by Events: they are for people, and may be lost, late or folded (API-49)."""

from __future__ import annotations

from typing import ClassVar

from testbed.invariant import TURN, Evidence, Invariant
from testbed.objects.event import Event
from testbed.store.store_endpoint import READS
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step


class NobodyDecidesByEvents(Invariant):
    """No actor reads Events, except those that stand for people."""

    name = "nobody_decides_by_events"
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})
    reads = frozenset()

    def __init__(self, people: tuple[str, ...]) -> None:
        self._people = people

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        served = evidence.wire.served
        if served is None or served.operation.plural != Event.plural:
            return None
        if served.operation.verb not in READS or served.role.name in self._people:
            return None
        text = f"{served.path} reads Events: {served.operation}"
        return Found.of(text, actors=served.role.name, reason=FORBIDDEN)


def nobody_decides_by_events(*people: str) -> NobodyDecidesByEvents:
    """No actor gets, lists or watches Events, except those named here, which stand for people."""
    return NobodyDecidesByEvents(people)
