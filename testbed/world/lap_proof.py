"""Lapping: plays choices that led into a lap, and then the lap itself again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.invariants.lasso.no_lasso import AGAIN, NoLasso
from testbed.turns.option import Choice, HoldBack, LetPass
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World

LAPS_MAX = AGAIN + 2
"""A bookmark may come between, which takes a turn and does nothing."""


@attrs.define
class Lapping(Chooser):
    """Chooses as was chosen before, then as in the lap, until it is proved or was played enough."""

    before: Sequence[Choice]
    lap: Sequence[Choice]
    _done: int = attrs.field(default=0, init=False)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan(f"a lap of {len(self.lap)} choices, again and again")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        done, into = self._done, self._done - len(self.before)
        self._done += 1
        if into < 0:
            return self.before[done]
        if into >= len(self.lap) * LAPS_MAX:
            return CUT
        choice = self.lap[into % len(self.lap)]
        return choice if _can_be(choice, options) else CUT


def _can_be(choice: Choice, options: Options | Alternatives) -> bool:
    """Whether that can be chosen here, as it could where the lap was first met. Time that was let
    pass until then does not come again."""
    if isinstance(choice, int):
        return choice < len(options)
    if isinstance(options, Alternatives) or isinstance(choice, LetPass):
        return False
    among = options.ready if isinstance(choice, HoldBack) else len(options.held)
    return choice.index < among


def prove_lasso(
    make: Callable[[], World], before: Sequence[Choice], lap: Sequence[Choice]
) -> World | None:
    """The World, its Run kept, in which that lap was played on until `no_lasso` was violated; None
    if the lap does not lead back to where it began. `before` ends where the lap begins again: the
    first lap is part of it. A function of its arguments alone."""
    world = make()
    world.evidence.play_lap = None
    world.evidence.laps_from = len(before) - len(lap)
    world.run(Lapping(before, lap), driver="direct", trace=Trace({}, keep=True))
    return world if lasso_of(world) is not None else None


def lasso_of(world: World) -> str | None:
    """What `no_lasso` has said of its Run; None if nothing."""
    violations = world.judge.violations
    return next((v.said for v in violations if v.invariant == NoLasso.name), None)


def said_of_lap(
    make: Callable[[], World], before: Sequence[Choice], lap: Sequence[Choice]
) -> str | None:
    """What `no_lasso` says when that lap is played on; None if it does not lead back."""
    world = prove_lasso(make, before, lap)
    return None if world is None else lasso_of(world)
