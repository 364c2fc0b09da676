"""The most important pod is scheduled first (SCH-8)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim
from testbed.turns.found import Found


class TheMostImportantIsTriedFirst(CycleClaim):
    """While a pod is tried, no pod of higher priority is in the active queue. Not claimed of the
    old FIFO queue."""

    name = "the_most_important_is_tried_first"

    def breach_in(self, cycle: Cycle) -> str | Found:
        if cycle.switches.queue == "fifo":
            return ""
        books, pod = cycle.books, cycle.pod
        for key in books.beliefs.queue.places["active"]:
            other = books.informers.pod(key)
            if other is not None and other.priority > pod.priority and key != pod.key:
                ranks = f"{pod.priority} before {other.priority}"
                text = f"{pod.key} is tried while {key} waits: priority {ranks}"
                return Found.of(text, pod, key, fields="spec.priority")
        return ""
