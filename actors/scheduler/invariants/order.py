"""The most important pod is tried first (SCH-8)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim


class TheMostImportantIsTriedFirst(CycleClaim):
    """Whoever is tried, nobody of a higher priority waits to be tried just then; but for the one
    line of old, in which each waits his turn."""

    name = "the_most_important_is_tried_first"

    def said_of(self, cycle: Cycle) -> str:
        if cycle.switches.queue == "fifo":
            return ""
        books, pod = cycle.books, cycle.pod
        for key in books.queue.places["active"]:
            other = books.pods.known.get(key)
            if other is not None and other.priority > pod.priority and key != pod.key:
                ranks = f"{pod.priority} before {other.priority}"
                return f"{pod.key} is tried while {key} waits: priority {ranks}"
        return ""
