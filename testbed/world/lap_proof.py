"""Lap proof: plays a lap that `no_lasso` has detected again and again, in a World of its own.

When `no_lasso` finds a World in a state in which it was before, the choices between the two are a
lap. The Chooser of that Run may never choose them again. So they are played here instead, again and
again from where the lap ended. If each lap leads back to that state, the actors can go on like this
for ever, and that is a Violation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo, fault_of
from testbed.choosers.followed import Followed
from testbed.invariants.lasso.no_lasso import AGAIN, NoLasso
from testbed.turns.happening import Happening
from testbed.turns.option import Choice, HoldBack, LetPass
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World

NEVER = 1 << 60
"""A number of choices that no Run has."""
LAPS_MAX = AGAIN + 2
"""How often the lap is played; more than AGAIN, since a bookmark may take a turn of it."""


@attrs.define
class Lapping(Chooser):
    """Plays the choices that led to the lap, then the lap over and over, then cuts the Run."""

    before: Sequence[Choice]
    lap: Sequence[Choice]
    _done: int = attrs.field(default=0, init=False)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan(f"a lap of {len(self.lap)} choices, again and again")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        choice = self._next()
        self._done += 1
        is_known = self._done <= len(self.before)
        return choice if is_known or isinstance(choice, Cut) or _can_be(choice, options) else CUT

    def strike(self, options: Options) -> int | None:
        choice = self._next()
        fault = None if isinstance(choice, Cut) else fault_of(choice, options)
        if fault is None or fault >= len(options):
            return None
        self._done += 1
        return fault

    def _next(self) -> Choice | Cut:
        into = self._done - len(self.before)
        if into < 0:
            return self.before[self._done]
        return self.lap[into % len(self.lap)] if into < len(self.lap) * LAPS_MAX else CUT


def _can_be(choice: Choice, options: Options | Alternatives) -> bool:
    """Whether that can be chosen here, as in the first lap. A LetPass cannot: it names a time,
    which does not come again."""
    if isinstance(choice, int):
        return choice < len(options)
    if isinstance(options, Alternatives) or isinstance(choice, LetPass):
        return False
    among = options.ready if isinstance(choice, HoldBack) else len(options.held)
    return choice.index < among


def prove_lasso(
    make: Callable[[], World], before: Sequence[Choice], lap: Sequence[Choice]
) -> World | None:
    """Play that lap until `no_lasso` is violated, and return the World, with its trace kept; None
    if the lap does not lead back to where it began. The first lap is part of `before`. The outcome
    depends on the arguments alone."""
    world = make()
    world.evidence.play_lap = None
    world.evidence.laps_from = len(before) - len(lap)
    world.run(Lapping(before, lap), driver="direct", trace=Trace({}, keep=True))
    return world if lasso_of(world) is not None else None


def lasso_of(world: World) -> str | None:
    """The text of the Violation of `no_lasso` in its Run, or None."""
    violations = world.judge.violations
    return next((v.said for v in violations if v.invariant == NoLasso.name), None)


class _Following(Followed):
    """Makes happen what has happened, and notes at which of its choices a lap begins."""

    def __init__(self, happened: Sequence[Happening], start: int) -> None:
        super().__init__(happened, {})
        self._start = start
        self._happened = 0
        self._choices = 0
        self.lap_from = 0
        """How many choices it takes to get to where the lap begins."""

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        choice = super().choose(options)
        self._count(choice)
        return choice

    def strike(self, options: Options) -> int | None:
        choice = super().strike(options)
        if choice is not None:
            self._count(choice)
        return choice

    def _count(self, choice: Choice | Cut) -> None:
        self._choices += 1
        if isinstance(choice, int):
            self._happened += 1
            if self._happened == self._start:
                self.lap_from = self._choices


def breach_by_lap(
    make: Callable[[], World], happened: Sequence[Happening], start: int
) -> str | None:
    """The text of the Violation when the lap is played that begins at that place; None if it does
    not lead back. Runs with the same turns get the same answer, however each was chosen."""
    world, following = make(), _Following(happened, start)
    world.evidence.play_lap, world.evidence.laps_from = None, NEVER
    world.run(following, driver="direct")
    choices = world.trace.choices
    proof = prove_lasso(make, choices, choices[following.lap_from :])
    return None if proof is None else lasso_of(proof)
