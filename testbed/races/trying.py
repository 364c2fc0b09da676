"""Trying: plays candidates of one shrink, counts their Runs, and knows when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.errors import HarnessBug, ReplayDiverged
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.reason import named_by, reason_of, same_as
from testbed.races.verdicts import ShownVerdicts
from testbed.turns.verdict import Verdict, Violation
from testbed.words import counted
from testbed.world.scenario import Scenario
from testbed.world.world import World

ATTENDED_TIMES = 3
"""How often a race is played with real programs, if it breaches the claim each time."""
RUNS_MAX = 118
"""How many Runs one shrink may take. To write the Run down, to play the result again and to
measure its windows takes some as well: together they are 150 at most."""
TURNS_TIMES, TURNS_MORE = 4, 1_000
"""How many turns a Run may have, beside that of the Race that is to be shrunk. Where a line is left
out, others may go round for a day, and what they come to then is another breach."""


def never_over() -> bool:
    """Say that time is not up: for what only its Runs limit."""
    return False


def _tell_nobody(runs: int, size: int) -> None:
    """Do nothing: no one follows the shrink."""


@attrs.frozen
class Limits:
    """How long a shrink may go on, and what follows it."""

    runs_max: int = RUNS_MAX
    is_over: Callable[[], bool] = never_over
    """Asked before each Run: once it says yes, no more is played."""
    on_run: Callable[[int, int], None] = _tell_nobody
    """Told before each Run how many there were, and the size of the Race; it may raise to stop."""


class Trying:
    """Plays Races of one scenario, and says which of them show the same breach: of the same claim,
    for the same reason, naming the same actors and objects."""

    def __init__(
        self,
        recipe: Scenario,
        switches: Mapping[str, Any],
        violation: Violation,
        limits: Limits,
    ) -> None:
        self.recipe = recipe
        self.reason = reason_of(violation)
        self.runs = 0
        """How many Runs were played."""
        self.limits = limits
        self.cut_off = ""
        """Why no more Runs are played; empty while they are."""
        names = recipe.named(switches)
        self.named = named_by(violation, names)
        """The actors and objects that it names, of those that the whole World begins with."""
        self._is_same = same_as(violation, names)
        self._verdicts = ShownVerdicts()
        """What was played without real programs."""
        self._attended: dict[str, Verdict | None] = {}
        """What was played with them, by the text of the Race: no other Run is just the same."""
        self._turns_max: int | None = None
        """How many turns a Run may have; None: as many as the scenario allows."""
        self.smallest: Race | None = None
        """The Race of the fewest lines that is known to show the breach."""
        self._last: tuple[str, Played] | None = None
        """The Race that was played last with its Steps kept, as text, and its Run."""

    def goes_on(self) -> bool:
        """Whether one more Run may be played; notes why not."""
        if not self.cut_off and self.limits.is_over():
            self.cut_off = "time is up"
        if not self.cut_off and self.runs >= self.limits.runs_max:
            self.cut_off = f"after {counted(self.runs, 'run')}"
        return not self.cut_off

    def has_room(self, runs_max: int) -> bool:
        """Whether one more Run may be played for what may only begin below this number of Runs."""
        return not self.cut_off and self.runs < runs_max

    def count(self, race: Race) -> bool:
        """Count one more Run, for that Race; False if no more may be played."""
        if not self.goes_on():
            return False
        self.runs += 1
        self.limits.on_run(self.runs, len(race))
        return True

    def breaches(self, race: Race, turns_max: int | None = None) -> bool:
        """Whether it shows the same breach; within so many turns, if that is said."""
        verdict = self.verdict(race, turns_max)
        shows_it = verdict is not None and self.breach_in(verdict) is not None
        known = self.smallest
        # What is left out of the World may be needed in the whole one.
        is_as_whole = known is None or {*race.without} <= {*known.without}
        if shows_it and is_as_whole and (known is None or len(race) < len(known)):
            self.smallest = self.core(race)
        return shows_it

    def breach_in(self, verdict: Verdict) -> Violation | None:
        """Return the same breach; None if it is not among these."""
        return next(filter(self._is_same, verdict.violations), None)

    def verdict(self, race: Race, turns_max: int | None = None) -> Verdict | None:
        """Return the Verdict of that Race; None if it raises, or if no more may be played. It is
        played only if no other Race has shown what this one would; and Undecided after so many
        turns, if that is said."""
        if self.recipe.attendance is not None:
            text = race.text()
            if text not in self._attended:
                self._attended[text] = self._verdict(race)
            return None if self.cut_off else self._attended[text]
        if self.cut_off or self._verdicts.has_raised(race):
            return None
        known = self._verdicts.of(race)
        return self._verdict(race, turns_max) if known is None else known

    def core(self, race: Race) -> Race:
        """Return a Race that was tried without the lines that make no difference in its Run."""
        return self._verdicts.core(race)

    def _verdict(self, race: Race, turns_max: int | None = None) -> Verdict | None:
        """Play it. Real programs have a time of their own, so with them only what a Race shows each
        time is what it shows."""
        played = None
        for _ in range(1 if self.recipe.attendance is None else ATTENDED_TIMES):
            if not self.count(race):
                return None
            played = self._played(race, turns_max=turns_max)
            if played is None or self.breach_in(played.verdict) is None:
                break
        return None if played is None else played.verdict

    def kept(
        self, race: Race, recipe: Scenario | None = None, turns_max: int | None = None
    ) -> Played | None:
        """Play it and keep its Steps; None if it raises, or if no more may be played. Given another
        recipe, that one assembles the World; it must be the same World."""
        text = race.text()
        is_same = recipe is None and self.recipe.attendance is None
        if is_same and (last := self.last_of(race)) is not None:
            return last
        if not self.count(race):
            return None
        played = self._played(race, recipe, keep=True, turns_max=turns_max)
        self._last = None if played is None else (text, played)
        return played

    def breach_of(
        self, race: Race, recipe: Scenario | None = None, turns_max: int | None = None
    ) -> tuple[Played | None, Violation | None]:
        """Play it as `kept` does; return the Run, and the same breach in it."""
        played = self.kept(race, recipe, turns_max)
        return played, None if played is None else self.breach_in(played.verdict)

    def _played(
        self,
        race: Race,
        recipe: Scenario | None = None,
        *,
        keep: bool = False,
        turns_max: int | None = None,
    ) -> Played | None:
        """Play it; None if it raises.

        A claim or an actor may raise because what it needs was left out. That is no breach, so that
        Race is no smaller one, and the shrink goes on without it. Only that the testbed is broken,
        or that something outside the World decided, is no matter of one Race.
        """
        limits = [most for most in (turns_max, self._turns_max) if most is not None]
        turns_max = min(limits, default=None)
        try:
            played = play(race, recipe or self.recipe, keep=keep, turns_max=turns_max)
        except (HarnessBug, ReplayDiverged):
            raise
        except Exception:  # noqa: BLE001 - the scenario's own, as said above
            self._verdicts.note_raised(race)
            return None
        # What was ended early has not shown what it would.
        if turns_max is None or played.verdict.turns < turns_max:
            self.note(race, played)
        return played

    def begin_with(self, race: Race, played: Played) -> None:
        """Note the Run of the Race that is to be shrunk; its Steps were kept."""
        self.note(race, played)
        self._last, self.smallest = (race.text(), played), race
        if self.recipe.attendance is None:
            self._turns_max = TURNS_TIMES * played.verdict.turns + TURNS_MORE

    def last_of(self, race: Race) -> Played | None:
        """Return a Run of that Race with its Steps, if it was the last of which they were kept."""
        return self._last[1] if self._last and self._last[0] == race.text() else None

    def note(self, race: Race, played: Played) -> None:
        """Note what a Race has shown, so that it is not played again."""
        if self.recipe.attendance is None:
            self._verdicts.note(race, played)

    def run(self, race: Race, chooser: Chooser) -> World | None:
        """Play the World of a Race under that Chooser; None if it raises, or if no more may be."""
        if not self.count(race):
            return None
        try:
            world = self.recipe.world(race.switches, without=race.without)
            if self._turns_max is not None:
                world.limit(turns_max=min(self._turns_max, world.budget.turns_max))
            world.run(chooser, driver="direct")
        except (HarnessBug, ReplayDiverged):
            raise
        except Exception:  # noqa: BLE001 - the scenario's own: that Run shows nothing
            return None
        return world
