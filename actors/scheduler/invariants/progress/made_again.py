"""Room is made again for a pod only if it was lost (INV-25)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import Cycles, names, node_key
from actors.scheduler.invariants.progress.promises import Promises
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.turns.found import TOO_MANY, Found, Wrong
from testbed.turns.trace import Step


class RoomIsMadeAgainOnlyIfLost(Invariant):
    """A scheduler makes room for a pod once, and again only for a reason that is not its own fault.

    So it decides for one pod once, and once more for each time that one of these came between:

    - a pod took the room, or other room was made there: one that is no less important, or that this
      scheduler had not put there itself after it had made the room;
    - the node has changed or is gone, or refuses the pod for another reason than its own pods;
    - the nomination could not be seen yet (SCH-112), or that the victims go; or they do not go,
      because a write failed or a crash came before it;
    - the pod was placed, and could not be bound.

    With `strict`, a less important pod of another scheduler is no excuse: since no scheduler heeds
    the nominations of another one's pods (SCH-109), several of them break it.

    A scheduler that gives the room away itself breaks it, as with `nominated_accounting=none`.
    """

    name = "room_is_made_again_only_if_lost"
    breach_reason = TOO_MANY
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self, promises: Promises | None = None, *, strict: bool = False) -> None:
        self._promises = Promises(Cycles(), strict=strict) if promises is None else promises

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        self._promises.follow(evidence)
        for promise, cycle in self._promises.broken:
            chosen = cycle.chosen
            victims = names(chosen.victims) if chosen is not None else ""
            given = " and ".join(promise.given.values())
            taken = f", where it has put {given} since" if given else ""
            times = f"room for {promise.pod} was made {promise.decisions} times"
            now = f"now on {promise.node}, at the cost of {victims}"
            gone = () if chosen is None else chosen.victims
            others = (*promise.given.values(), *(pod.key for pod in gone))
            return Found.of(
                f"{promise.who}: {times}{taken}; {now}",
                promise.pod, node_key(promise.node), *others, actors=promise.who,
            )  # fmt: skip
        return None
