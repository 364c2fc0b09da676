"""No nomination is left over when nothing moves any more (INV-26)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import attrs

from actors.scheduler.invariants.cycles import Cycles, node_key, records_of, schedulers
from actors.scheduler.memory.books import Books
from actors.scheduler.reference.feasibility import nomination_of
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import Pod
from testbed.turns.found import Found, Wrong
from testbed.turns.trace import Step

FAILED = ("status not patched", "nomination kept")
"""Records of a scheduler that could not write the nomination of the pod that they name."""


@attrs.define
class _Tried:
    """The latest attempt of a pod."""

    uid: str
    who: str
    """The scheduler that has tried it."""
    knew: str
    """The node that the informer showed it nominated to."""
    decided: str | None
    has_failed: bool = False
    """Whether something that followed from it could not be written."""


class NoNominationIsLeftOver(Invariant):
    """At rest, a pod without a node is nominated only while a less important pod is terminating on
    that node: its scheduler waits for that one, and has given up any nomination that came to
    nothing. On a node that is unreachable, or gone, it is that pod that stays. The end of the node
    itself moves no pod (kubernetes#85677), but the removal of its pods does.

    1.26 leaves a nomination behind in these cases, and nothing is claimed of them:

    - What followed from its last attempt could not be written: the preemption was broken off
      (SCH-99), or a patch failed (SCH-69).
    - The nomination is not one that this attempt knew of or decided: it came later, from somebody
      else or from an earlier life of the scheduler; a change of a status moves no pod (SCH-27).
    - The pod may not preempt, so a nomination that it was given is never looked at (SCH-74).
    - The scheduler is down, has not tried it yet, or will by itself: it waits for no event.
    """

    name = "no_nomination_is_left_over"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self._tried: dict[str, _Tried] = {}
        """By the key of the pod."""
        self._trying: dict[str, str] = {}
        """The pod of the latest cycle, by the path of the task."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for record in reversed([*records_of(evidence)]):
            key = record.facts.get("pod", "")
            if record.name == "cycle":
                self._trying[record.path] = key
                self._note(key, evidence)
            elif record.name == "preemption broken off":
                self._fail(self._trying.get(record.path, ""))
            elif record.name in FAILED:
                self._fail(key)
        return None

    def _note(self, key: str, evidence: Evidence) -> None:
        for cycle in self._cycles.of(evidence):
            if cycle.pod.key == key:
                known = cycle.books.informers.pod(key) or cycle.pod
                knew = nomination_of(known, cycle.switches)
                preemption, decided = cycle.decision.preemption, cycle.decision.nominate
                has_failed = preemption is not None and preemption.code == "Error"
                self._tried[key] = _Tried(cycle.pod.meta.uid, cycle.who, knew, decided, has_failed)

    def _fail(self, key: str) -> None:
        if key in self._tried:
            self._tried[key].has_failed = True

    def end(self, evidence: Evidence) -> Wrong:
        books = {who: books for who, books, _ in schedulers(evidence)}
        pods = {e.key: e.value for e in evidence.store.snapshot("pods/")}
        for key, tried in sorted(self._tried.items()):
            pod, mine = pods.get(key), books.get(tried.who)
            if isinstance(pod, Pod) and mine is not None and _is_judged(pod, tried, mine):
                node = nomination_of(pod, mine.switches)
                if not _awaited(pod, node, pods):
                    left = f"{key} is still nominated to {node}, where it waits for no pod to go"
                    text, field = f"{tried.who}: {left}", "status.nominated_node_name"
                    return Found.of(text, pod, node_key(node), fields=field, actors=tried.who)
        return None


def _is_judged(pod: Pod, tried: _Tried, books: Books) -> bool:
    """Whether the scheduler could have cleared the nomination of that pod, and was free to."""
    switches = books.switches
    node = nomination_of(pod, switches)
    preempts = switches.preemptor == "scheduler" and not switches.disable_preemption
    return (
        bool(node)
        and pod.meta.uid == tried.uid
        and not pod.is_bound
        and not pod.meta.is_terminating
        and not tried.has_failed
        and node in (tried.knew, tried.decided)
        and preempts
        and pod.spec.preemption_policy != "Never"
        and pod.key in books.beliefs.queue.places["unschedulable"]
    )


def _awaited(pod: Pod, node: str, pods: Mapping[str, object]) -> bool:
    """Whether a less important pod is terminating there."""
    return any(
        isinstance(other, Pod)
        and other.spec.node_name == node
        and other.meta.is_terminating
        and other.priority < pod.priority
        for other in pods.values()
    )
