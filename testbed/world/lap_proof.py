"""Lap proof: plays a lap that `no_lasso` has detected again and again, in a World of its own.

When `no_lasso` finds a World in a state in which it was before, the choices between the two are a
lap. The Chooser of that Run may never choose them again. So they are played here instead, again and
again from where the lap ended. If each lap leads back to that state, the actors can go on like this
for ever, and that is a Violation.

Where something counts on, no state comes back. Then what has happened is played, and all goes on
calmly, to see whether it goes round for ever all the same (`going_round.py`). The Run itself goes
on as its Chooser wants. Only here are numbers watched, so they make no difference to any Run that
is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo, fault_of
from testbed.choosers.followed import Followed
from testbed.client.watching import WatchingClient
from testbed.invariant import Evidence
from testbed.invariants.lasso.going_round import GoingRound
from testbed.invariants.lasso.lap import AGAIN
from testbed.invariants.lasso.no_lasso import NoLasso
from testbed.objects.meta import LOOKED
from testbed.objects.watched import LOST, Lookout
from testbed.turns.found import Found
from testbed.turns.happening import Happening, key_of
from testbed.turns.option import Choice, HoldBack, LetPass, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World

NEVER = 1 << 60
"""A number of choices that no Run has."""
TURNS_MAX = 10_000
"""How many turns are played beyond what has happened, at most."""
LAPS_MAX = AGAIN + 2
"""How often the lap is played; more than AGAIN, since a bookmark may take a turn of it."""


class Lead(Protocol):
    """Plays a Run up to the end of the first lap, as a Chooser does; then it only cuts."""

    @property
    def is_over(self) -> bool:
        """Whether all that it plays has happened."""

    @property
    def lap(self) -> Sequence[Choice]:
        """The choices of the lap; known when it cuts."""

    def begin(self, run: RunInfo) -> Plan | None:
        """See Chooser, also of what follows."""

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        """Chooses, or cuts when all has happened."""

    def strike(self, options: Options) -> int | None:
        """Only called as long as it is not over."""


class KnownLead(Chooser):
    """Leads by the choices that are known, the first lap among them."""

    def __init__(self, before: Sequence[Choice], lap: Sequence[Choice]) -> None:
        self.lap = lap
        self._before = before
        self._done = 0

    @property
    def is_over(self) -> bool:
        """Whether all choices were made."""
        return self._done == len(self._before)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("a lap that is known")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if self.is_over:
            return CUT
        self._done += 1
        return self._before[self._done - 1]

    def strike(self, options: Options) -> int | None:
        fault = _fault_at(self._before[self._done], options)
        if fault is not None:
            self._done += 1
        return fault


class Following(Followed):
    """Leads by what has happened, and notes the choices that this takes."""

    def __init__(self, happened: Sequence[Happening], start: int, evidence: Evidence) -> None:
        super().__init__(happened, {})
        self._start = start
        self._evidence = evidence
        self._happened = 0
        self._made: list[Choice] = []
        """All choices so far."""
        turns = [each for each in happened[:start] if not each.is_pick]
        self._held_from = 0 if any(each.is_fault for each in turns) else len(turns) - 1
        """From how many turns on it holds back what it has passed over: before the last turn that
        comes before the lap, so that the lap begins with all of it held."""
        self._passed: dict[Option, None] = {}
        """What it has passed over by then, oldest first."""
        evidence.laps_from = NEVER

    @property
    def is_over(self) -> bool:
        """Whether all has happened again."""
        return self._done == len(self._turns)

    @property
    def lap(self) -> Sequence[Choice]:
        """The choices since the lap has begun."""
        return self._made[self._evidence.laps_from :]

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        turn = self._pass_over(options) if isinstance(options, Options) else None
        choice = super().choose(options) if turn is None else turn
        if not isinstance(choice, Cut):
            self._note(choice)
        return choice

    # What is held back, and in which order, matters only in the lap. Until then what stands in line
    # before the next turn is passed over, which takes one choice for a turn instead of many.
    def _pass_over(self, options: Options) -> Choice | None:
        """The next turn, chosen from the line as it is. If it is not there, or it is time to, hold
        back what was passed over; None when all of it is."""
        turn, line = self._turns[self._done] if not self.is_over else None, options.in_line()
        if turn is not None and self._done < self._held_from:
            path = turn.key[0].path
            for index, option in enumerate(line):
                if option.path == path and key_of(option) == turn.key:
                    self._passed.update(dict.fromkeys(line[:index]))
                    self._passed.pop(option, None)
                    self._done += 1
                    return index
        self._held_from = 0
        while self._passed:
            passed = next(iter(self._passed))
            del self._passed[passed]
            if passed in line:  # and not withdrawn meanwhile
                return HoldBack(line.index(passed))
        return None

    def strike(self, options: Options) -> int | None:
        choice = super().strike(options)
        if choice is not None:
            self._note(choice)
        return choice

    def _note(self, choice: Choice) -> None:
        self._made.append(choice)
        if isinstance(choice, int):
            self._happened += 1
            if self._happened == self._start:
                self._evidence.laps_from = len(self._made)


class Lapping(Chooser):
    """Plays what leads to the end of the first lap, then that lap over and over, then cuts."""

    def __init__(self, lead: Lead) -> None:
        self._lead = lead
        self._lap: Sequence[Choice] | None = None
        """The lap; None until the lead is over."""
        self._done = 0
        """How many choices of laps were made after the first lap."""

    def begin(self, run: RunInfo) -> Plan | None:
        self._lead.begin(run)
        return Plan("a lap, again and again")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if self._lap is None:
            choice = self._lead.choose(options)
            if not isinstance(choice, Cut):
                return choice
            self._lap = self._lead.lap
        choice = self._next(self._lap)
        self._done += 1
        return choice if isinstance(choice, Cut) or _can_be(choice, options) else CUT

    def strike(self, options: Options) -> int | None:
        if not self._lead.is_over:
            return self._lead.strike(options)
        lap = self._lead.lap if self._lap is None else self._lap
        choice = self._next(lap)
        fault = None if isinstance(choice, Cut) else _fault_at(choice, options)
        if fault is not None:
            self._lap = lap
            self._done += 1
        return fault

    def _next(self, lap: Sequence[Choice]) -> Choice | Cut:
        return lap[self._done % len(lap)] if self._done < len(lap) * LAPS_MAX else CUT


def _can_be(choice: Choice, options: Options | Alternatives) -> bool:
    """Whether that can be chosen here, as in the first lap. A LetPass cannot: it names a time,
    which does not come again."""
    if isinstance(choice, int):
        return choice < len(options)
    if isinstance(options, Alternatives) or isinstance(choice, LetPass):
        return False
    among = options.ready if isinstance(choice, HoldBack) else len(options.held)
    return choice.index < among


def _fault_at(choice: Choice, options: Options) -> int | None:
    """The index of the fault that this choice lets strike here; None if it lets none."""
    fault = fault_of(choice, options)
    return None if fault is None or fault >= len(options) else fault


# The time up to which a Run is judged is where its user stops looking. Actors do not stop there.
def _endless(make: Callable[[], World]) -> World:
    """The World in which laps are played: judged up to no time, and proving no lap elsewhere."""
    world = make()
    world.limit(until_ms=None)
    world.evidence.play_lap = world.evidence.go_on = None
    return world


def prove_lasso(
    make: Callable[[], World], before: Sequence[Choice], lap: Sequence[Choice]
) -> World | None:
    """Play that lap until `no_lasso` is violated, and return the World, with its trace kept; None
    if the lap does not lead back to where it began. The first lap is part of `before`. The outcome
    depends on the arguments alone."""
    world = _endless(make)
    world.evidence.laps_from = len(before) - len(lap)
    world.run(Lapping(KnownLead(before, lap)), driver="direct", trace=Trace({}, keep=True))
    return world if lasso_of(world) is not None else None


def lasso_of(world: World) -> Found | None:
    """What `no_lasso` has found in its Run, or None."""
    violations = world.judge.violations
    return next((v.found for v in violations if v.invariant == NoLasso.name), None)


def breach_by_lap(
    make: Callable[[], World], happened: Sequence[Happening], start: int
) -> Found | None:
    """What `no_lasso` finds when the lap is played that begins at that place; None if it does
    not lead back. Runs with the same turns get the same answer, however each was chosen."""
    world = _endless(make)
    world.run(Lapping(Following(happened, start, world.evidence)), driver="direct")
    return lasso_of(world)


# -- laps in which something counts ----------------------------------------------------------------


class GoingOn(Following):
    """Makes the same happen, then lets go of what is held, and goes on calmly."""

    def __init__(self, happened: Sequence[Happening], world: World, claim: GoingRound) -> None:
        super().__init__(happened, len(happened), world.evidence)
        self._claim = claim

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if not self.is_over:
            return super().choose(options)
        if isinstance(options, Alternatives):
            return self._pick(options) if self._picks else 0
        if options.held:
            return Release(0)
        if not self._claim.has_begun:
            self._claim.begin()
        return CUT if self._claim.gave_up or not options.ready else 0

    def strike(self, options: Options) -> int | None:
        return None if self.is_over else Followed.strike(self, options)


def breach_by_going_on(
    make: Callable[[], World], happened: Sequence[Happening]
) -> tuple[Found | None, str]:
    """What `no_lasso` finds if all goes round for ever from there, or else None and why that is
    not known. Runs with the same turns get the same answer, however each was chosen."""
    world = _endless(make)
    (claim,) = world.judge.claimed(NoLasso)
    table = world.table
    sight = Lookout(lambda: "" if table.running is None else table.running.life.role.name)
    looks = GoingRound(sight, claim.minds, claim.named_anew)
    world.evidence.forget_scenario()
    world.judge.claim_only(looks)
    # What is made of a resourceVersion is not watched, so a look at one is a loss.
    table.context.run(LOOKED.set, lambda: sight.note(LOST, False, 0, "resourceVersion"))
    world.client_for = partial(WatchingClient, sight)
    turns_max = len(happened) + TURNS_MAX
    world.limit(turns_max=turns_max, instant_turns_max=turns_max)
    try:
        world.run(GoingOn(happened, world, looks), driver="direct")
    finally:
        sight.is_on = False
    return lasso_of(world), looks.gave_up
