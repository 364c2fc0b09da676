"""Counterpart: the Run that `confluent` holds another one against.

It is the calm run, but that the same faults strike in it, each at the same point of its target's
work (`testbed/client/point.py` says what that is). A fault that struck one request strikes that
request, once its task has sent the same. So it is the textbook execution of what the struck Run had
to do, and only the order is another one.

1. The faults on one target strike in their order; those on others as each of them comes there.
2. A fault strikes as soon as its target is there. If the next turn would take time past the moment,
   only time passes up to it.
3. How far an Endpoint or the Store's history has come is a matter of several actors. One that has
   come as far as it had when the fault struck waits there for the others.
4. If calm order never comes to such a point, or the fault cannot strike there, the order has also
   decided what was struck. Then there is no counterpart: the Run is compared with nothing, and its
   Verdict says why.
"""

from __future__ import annotations

from collections.abc import Sequence

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.client.point import PointOfWork
from testbed.fault import Hit
from testbed.invariants.confluence import NO_POINT, NOT_THERE, struck_alike
from testbed.turns.option import LetPass
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World


class StruckAlike(Chooser):
    """Chooses Option 0 at every turn, but lets the same faults strike at the same points."""

    def __init__(self, world: World, hits: Sequence[Hit]) -> None:
        self._world = world
        self._left: dict[tuple[str, str], list[Hit]] = {}
        """By what they strike, the Hits still to come, the next one first."""
        for hit in hits:
            self._left.setdefault(_struck(hit), []).append(hit)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan(struck_alike("calm", sum(map(len, self._left.values()))))

    def choose(self, options: Options | Alternatives) -> int | LetPass:
        if isinstance(options, Alternatives) or not self._left:
            return 0
        strike = self._strike(options)
        return self._next(options) if strike is None else strike

    def strike(self, options: Options) -> int | None:
        strike = self._strike(options)
        return strike if isinstance(strike, int) else None

    @property
    def is_alike(self) -> bool:
        """Whether all of the faults have struck."""
        return not self._left

    def _strike(self, options: Options) -> int | LetPass | None:
        """Let the next fault strike whose target has come to its point; None if none has."""
        nexts = [(hits[0].now_ms or 0, struck) for struck, hits in self._left.items()]
        for at_ms, struck in sorted(nexts):
            hit = self._left[struck][0]
            is_late = hit.now_ms is not None and options.now_ms > at_ms
            if is_late or not self._is_there(hit):
                continue
            if hit.now_ms is not None and options.now_ms < at_ms:
                if options.ready and options[0].due_ms >= at_ms:
                    return LetPass(at_ms)
                continue
            for index, option in enumerate(options.faults):
                if (option.fault, option.key) == (hit.fault, hit.target):
                    del self._left[struck][0]
                    self._left = {key: left for key, left in self._left.items() if left}
                    return options.ready + index
        return None

    def _is_there(self, hit: Hit) -> bool:
        return hit.point is not None and hit.point.is_there(self._world.here)

    def _next(self, options: Options) -> int:
        """The first in calm order that need not wait for others to come to a point; if all of them
        wait, the others will not come."""
        now_ms, here = options.now_ms, self._world.here
        hits = [left[0] for left in self._left.values()]
        points = [hit.point for hit in hits if hit.point and now_ms <= (hit.now_ms or 0)]
        for index, option in enumerate(options.in_line() if points else ()):
            if option.due_ms > max(now_ms, options[0].due_ms):
                break
            if not any(point.waits(option, here) for point in points):
                return index
        return 0


def _struck(hit: Hit) -> tuple[str, str]:
    """What a fault strikes. Those on one of these strike in order; others may change places."""
    if isinstance(hit.point, PointOfWork) and not hit.fault.strikes_requests:
        return hit.actor, ""
    # An Endpoint may have the name by which a compaction calls the Store.
    return hit.actor, f"{type(hit.point).__name__} {hit.target}"


def play_counterpart(world: World, hits: Sequence[Hit], trace: Trace | None = None) -> str:
    """Play that new World calmly, with these faults; returns why it is no counterpart, or nothing
    if all of them have struck."""
    if any(hit.point is None for hit in hits):
        return NO_POINT
    world.evidence.calm_end = None
    alike = StruckAlike(world, hits)
    world.run(alike, driver="direct", trace=trace)
    return "" if alike.is_alike else NOT_THERE


def key_of_hits(hits: Sequence[Hit]) -> tuple[object, ...]:
    """What Runs have in common that have the same counterpart: which faults struck, and where."""
    left: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        left.setdefault(_struck(hit), []).append(hit)
    return tuple((struck, tuple(left[struck])) for struck in sorted(left))
