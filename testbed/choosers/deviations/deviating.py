"""Deviating: plays one Run with few deviations from the calm one, and notes which go on from it.

A Run is given by its decisions, in the order in which they were taken: hold back the dullest Option
here, release that one there, pick another alternative, let a fault strike. All else is calm.

1. Play a plan: a few decisions, each at its place.
2. At every later place note what else could have been decided:

   - to hold the dullest Option, or to pick otherwise: one more deviation;
   - to let a fault strike: one more fault;
   - to release what is held: neither, since that is how a hold ends. It is noted only if the last
     turn clashes with what is held, or if time has passed: to release it elsewhere comes to the
     same as to hold something that follows from it. After time has passed over it INSTANTS_MAX
     times a hold ends by itself; otherwise an actor that retries each second would never stop.

3. Each of these decisions, after those of the plan, makes a plan to be played. So each set of
   decisions is reached in one way only, in the order of its places, and none is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.turns.imprint import diverged, imprint_of, sum_of, twice_line
from testbed.turns.option import PICK, Choice, HoldBack, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step
from testbed.words import counted

HOLD, RELEASE, STRIKE = "hold", "release", "strike"
Decision = tuple[int, str, int]
"""The place, what is decided there, and which one of several it is about."""
TRAIL_WIDTH = 4
"""How many hexadecimal digits of the checksum of a turn a trail has."""
INSTANTS_MAX = 8
"""How often time may pass over what is held; then it is released."""


@attrs.frozen
class Deviant:
    """A plan: the decisions of one Run, and how many of them are faults and deviations."""

    decisions: tuple[Decision, ...] = ()
    faults: int = 0
    deviations: int = 0
    comes_last: bool = False
    """Whether it is played after the others of its level, as one whose last hold is of glue."""
    trail: str = attrs.field(default="", eq=False, repr=False)
    """A checksum of each turn of the Run that it goes on from, TRAIL_WIDTH letters each: up to its
    last decision it must be the same Run. Empty: not known."""

    def as_list(self) -> list[Any]:
        """As plain data, for another process."""
        decisions = [list(decision) for decision in self.decisions]
        return [decisions, self.faults, self.deviations, self.comes_last, self.trail]

    @classmethod
    def of(cls, data: Sequence[Any]) -> Deviant:
        """Back from plain data."""
        decisions, faults, deviations, comes_last, *trail = data
        return cls(tuple(map(tuple, decisions)), faults, deviations, comes_last, *trail)

    def __str__(self) -> str:
        many, faults = self.deviations, self.faults
        words = f"{many} deviation{'' if many == 1 else 's'}"
        return words + (f", {counted(faults, 'fault')}" if faults else "")


class Deviating(Chooser):
    """Plays one plan, and notes the plans that go on from it."""

    def __init__(self, plan: Deviant, *, faults_max: int, deviations_max: int | None) -> None:
        self.plan = plan
        self.children: list[Deviant] = []
        self._decided = {place: (what, which) for place, what, which in plan.decisions}
        self._from = plan.decisions[-1][0] + 1 if plan.decisions else 0
        """The first place after the decisions of its plan."""
        self._may_strike = plan.faults < faults_max
        self._may_deviate = deviations_max is None or plan.deviations < deviations_max
        holds = any(what == HOLD for _, what, _ in plan.decisions)
        self._has_children = self._may_strike or self._may_deviate or holds
        """Whether a plan may go on from it at all."""
        self._place = 0
        self._last: Step | None = None
        self._now_ms = 0
        self._has_passed = False
        """Whether time has passed since the last turn."""
        self._passed: dict[Option, int] = {}
        """How often time has passed over each thing that is held."""
        self._let_go: set[Option] = set()
        self._info: RunInfo
        self._sum = 0
        self._trail: list[str] = []
        self.shared = 0
        """How many Steps it has taken before the last decision of its plan."""

    def begin(self, run: RunInfo) -> Plan | None:
        self._info = run
        return Plan(f"bounded, {self.plan}")

    @property
    def trail(self) -> str:
        """The trail of its Run, for the plans that go on from it."""
        return "".join(self._trail)

    def choose(self, options: Options | Alternatives) -> Choice:
        place = self._place
        self._place += 1
        self._see_time(options)
        if place in self._decided:
            return self._do(*self._decided[place], options)
        due = self._due(options)
        if place >= self._from:
            self._note(place, options, due)
        return 0 if due is None else self._do(RELEASE, due, options)

    def may_hold(self, option: Option) -> bool:
        """Whether a plan may go on with a hold of that; a subclass may look at some alone."""
        return True

    def comes_last(self, option: Option) -> bool:
        """Whether the plans that hold this are played after the others of their level."""
        return not option.is_effect

    def _see_time(self, options: Options | Alternatives) -> None:
        if not isinstance(options, Options):
            return
        self._has_passed = options.now_ms > self._now_ms
        self._now_ms = options.now_ms
        if self._has_passed:
            self._passed = {held: self._passed.get(held, 0) + 1 for held in options.held}

    def _due(self, options: Options | Alternatives) -> int | None:
        """The index of what is held and is released here, unless the plan decides otherwise."""
        if not isinstance(options, Options):
            return None
        if not options.ready:
            return 0
        held = enumerate(options.held)
        return next((n for n, one in held if self._passed.get(one, 0) >= INSTANTS_MAX), None)

    def ended(self, step: Step) -> None:
        if step.kind not in (HOLD, RELEASE):
            self._last = step
        self._follow(step)

    def _follow(self, step: Step) -> None:
        """Note the Step in the trail; before the last decision it must be the one that it was."""
        if self._place >= self._from and not self._has_children:
            return
        imprint = imprint_of(step)
        self._sum = sum_of(imprint, self._sum)
        self._trail.append(f"{self._sum:08x}"[-TRAIL_WIDTH:])
        if self._place >= self._from:
            return
        self.shared += 1
        end = self.shared * TRAIL_WIDTH
        if self.plan.trail and self.plan.trail[end - TRAIL_WIDTH : end] != self._trail[-1]:
            said = f"it is not the turn that it was, and shows now {imprint.shown}"
            where = f"step {self.shared} of run {self._info.number}"
            raise diverged(step, where, said, twice_line(self._info))

    def _do(self, what: str, which: int, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives) or what == PICK:
            return which
        if what == HOLD:
            return HoldBack(0)
        if what == STRIKE:
            return options.ready + which
        self._let_go.add(options.held[which])
        return Release(which)

    def _note(self, place: int, options: Options | Alternatives, due: int | None) -> None:
        """Note what else could be decided here."""
        if not isinstance(options, Options):
            if self._may_deviate:
                for which in range(1, len(options)):
                    self._add((place, PICK, which), deviations=1)
            return
        self._note_releases(place, options, due)
        first = options[0] if self._may_deviate and options.ready else None
        if first is not None and first not in self._let_go and self.may_hold(first):
            self._add((place, HOLD, 0), deviations=1, comes_last=self.comes_last(first))
        if self._may_strike:
            for which in range(len(options.faults)):
                self._add((place, STRIKE, which), faults=1)

    def _note_releases(self, place: int, options: Options, due: int | None) -> None:
        did = self._last.did if self._last is not None else None
        # What goes on later also sleeps until later: when it ends counts as much as after what.
        is_any = self._has_passed or not options.ready
        ends = [
            n for n, option in enumerate(options.held)
            if n != due and (is_any or (did is not None and did.clashes(option.may)))
        ]  # fmt: skip
        for which in ends:
            self._add((place, RELEASE, which), comes_last=self.plan.comes_last)

    def _add(
        self, decision: Decision, *, faults: int = 0, deviations: int = 0, comes_last: bool = False
    ) -> None:
        plan = self.plan
        self.children.append(
            Deviant(
                (*plan.decisions, decision),
                plan.faults + faults,
                plan.deviations + deviations,
                comes_last,
            )
        )
