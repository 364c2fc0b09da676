"""followed: makes happen again what has happened in a Run, in one stated way.

Whatever stands in line before the turn to come is held, from the front, until that turn is the
next; when the turn of something held has come, it is released. So two Runs with the same turns in
the same order are followed by the same choices, whatever their own choices were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.errors import ReplayDiverged
from testbed.turns.happening import Happening, Key, key_of
from testbed.turns.imprint import Rerunnable, diverged, twice_line
from testbed.turns.option import Choice, HoldBack, LetPass, Option, Release
from testbed.turns.pending import Alternatives, Options


class Followed(Chooser):
    """Makes the same happen; what is beyond its last Happening is cut off."""

    def __init__(self, happened: Sequence[Happening], delays: Mapping[Key, int]) -> None:
        self._turns = [each for each in happened if not each.is_pick]
        self._after = _first_turns(self._turns)
        """By how much is done, the first turn after it that is no fault."""
        self._picks = [each for each in reversed(happened) if each.is_pick]
        self._delays = dict(delays)
        """What is held for a time, and when it becomes due."""
        self._done = 0
        self.run: RunInfo
        """What it was told before the Run."""

    def begin(self, run: RunInfo) -> Plan | None:
        self.run = run
        return Plan("what has happened, again")

    # -- for a subclass that wants to know what happens -----------------------------------------

    def on_first(self, option: Option) -> None:
        """Called before an Option is held or performed, each time."""

    def on_hold(self, option: Option, for_ms: int | None) -> None:
        """Called when an Option is held; None: until its turn comes."""

    def on_turn(self, option: Option, now_ms: int) -> None:
        """Called when an Option is about to be performed."""

    def on_strike(self, fault: Option, now_ms: int) -> None:
        """Called when a fault is about to strike."""

    def on_pick(self, options: Alternatives, choice: int) -> None:
        """Called when something is picked."""

    # -- choosing -------------------------------------------------------------------------------

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if isinstance(options, Alternatives):
            return self._pick(options)
        turn = self._after[self._done]
        if turn is not None:
            path = turn.key[0].path
            for index, held in enumerate(options.held):
                if held.path == path and key_of(held) == turn.key:
                    return Release(index)
        if self._strikes_next():
            return self._strike(options)
        if not options.ready:
            # Nothing is left but what is held: the Run is over, or rests until the fault to come.
            return Release(0)
        return CUT if turn is None else self._go_on(options[0], turn, options.now_ms)

    def _go_on(self, first: Option, turn: Happening, now_ms: int) -> Choice:
        """Perform the first in line if it is its turn, else hold it."""
        self.on_first(first)
        key = key_of(first)
        for_ms = self._delays.pop(key, now_ms) - now_ms
        if for_ms > 0:
            self.on_hold(first, for_ms)
            return HoldBack(0, for_ms)
        if key != turn.key:
            self.on_hold(first, None)
            return HoldBack(0)
        self._done += 1
        self.on_turn(first, max(now_ms, first.due_ms))
        return 0

    def strike(self, options: Options) -> int | None:
        choice = self._strike(options) if self._strikes_next() else None
        return choice if isinstance(choice, int) else None

    def _strikes_next(self) -> bool:
        return self._done < len(self._turns) and self._turns[self._done].is_fault

    def _strike(self, options: Options) -> int | LetPass:
        happened = self._turns[self._done]
        if options.now_ms < happened.now_ms:
            return LetPass(happened.now_ms)
        for index, fault in enumerate(options.faults):
            if key_of(fault) == happened.key:
                self._done += 1
                self.on_strike(fault, options.now_ms)
                return options.ready + index
        raise differs(f"`{happened.key[0]}` cannot strike", self.run)

    def _pick(self, options: Alternatives) -> int | Cut:
        if not self._picks:
            return CUT
        choice = self._picks.pop().picked
        assert choice is not None
        if choice >= len(options):
            said = f"of {len(options)} alternatives, number {choice + 1} was picked"
            raise differs(said, self.run)
        self.on_pick(options, choice)
        return choice


def _first_turns(turns: Sequence[Happening]) -> list[Happening | None]:
    """From each place on, the first turn that is no fault; None at the end."""
    after: list[Happening | None] = [None]
    for each in reversed(turns):
        after.append(after[-1] if each.is_fault else each)
    after.reverse()
    return after


def differs(said: str, run: Rerunnable) -> ReplayDiverged:
    """The error when the same choices lead to another Run."""
    return diverged(None, "the Run, played again, is another one", said, twice_line(run))
