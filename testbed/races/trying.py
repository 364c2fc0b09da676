"""Trying: plays candidates of one shrink, counts their Runs, and knows when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.errors import HarnessBug, ReplayDiverged
from testbed.invariant import Verdict, Violation
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.reason import named_by, reason_of, same_as
from testbed.words import counted
from testbed.world.scenario import Scenario
from testbed.world.world import World

ATTENDED_TIMES = 3
"""How often a race is played with real programs, if it breaches the claim each time."""
RUNS_MAX = 2000
"""How many Runs one shrink may take."""


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
        self._known: dict[str, Verdict | None] = {}
        """By the text of a Race that was played: its Verdict, or None if it raised."""

    def goes_on(self) -> bool:
        """Whether one more Run may be played; notes why not."""
        if not self.cut_off and self.limits.is_over():
            self.cut_off = "time is up"
        if not self.cut_off and self.runs >= self.limits.runs_max:
            self.cut_off = f"after {counted(self.runs, 'run')}"
        return not self.cut_off

    def count(self, race: Race) -> bool:
        """Count one more Run, for that Race; False if no more may be played."""
        if not self.goes_on():
            return False
        self.runs += 1
        self.limits.on_run(self.runs, len(race))
        return True

    def breaches(self, race: Race) -> bool:
        """Whether it shows the same breach."""
        verdict = self.verdict(race)
        return verdict is not None and self.breach_in(verdict) is not None

    def breach_in(self, verdict: Verdict) -> Violation | None:
        """Return the same breach; None if it is not among these."""
        return next(filter(self._is_same, verdict.violations), None)

    def verdict(self, race: Race) -> Verdict | None:
        """Return the Verdict of that Race; None if it raises, or if no more may be played."""
        text = race.text()
        if text not in self._known:
            self._known[text] = self._verdict(race)
        return None if self.cut_off else self._known[text]

    def _verdict(self, race: Race) -> Verdict | None:
        """Play it. Real programs have a time of their own, so with them only what a Race shows each
        time is what it shows."""
        verdict = None
        for _ in range(1 if self.recipe.attendance is None else ATTENDED_TIMES):
            if not self.count(race):
                return None
            played = self._played(race, keep=False)
            verdict = None if played is None else played.verdict
            if verdict is None or self.breach_in(verdict) is None:
                break
        return verdict

    def kept(self, race: Race, recipe: Scenario | None = None) -> Played | None:
        """Play it and keep its Steps; None if it raises, or if no more may be played. Given another
        recipe, that one assembles the World; it must be the same World."""
        return self._played(race, recipe, keep=True) if self.count(race) else None

    def breach_of(
        self, race: Race, recipe: Scenario | None = None
    ) -> tuple[Played | None, Violation | None]:
        """Play it as `kept` does; return the Run, and the same breach in it."""
        played = self.kept(race, recipe)
        return played, None if played is None else self.breach_in(played.verdict)

    def _played(self, race: Race, recipe: Scenario | None = None, *, keep: bool) -> Played | None:
        """Play it; None if it raises.

        A claim or an actor may raise because what it needs was left out. That is no breach, so that
        Race is no smaller one, and the shrink goes on without it. Only that the testbed is broken,
        or that something outside the World decided, is no matter of one Race.
        """
        try:
            return play(race, recipe or self.recipe, keep=keep)
        except (HarnessBug, ReplayDiverged):
            raise
        except Exception:  # noqa: BLE001 - the scenario's own, as said above
            return None

    def run(self, race: Race, chooser: Chooser) -> World | None:
        """Play the World of a Race under that Chooser; None if it raises, or if no more may be."""
        if not self.count(race):
            return None
        try:
            world = self.recipe.world(race.switches, without=race.without)
            world.run(chooser, driver="direct")
        except (HarnessBug, ReplayDiverged):
            raise
        except Exception:  # noqa: BLE001 - the scenario's own: that Run shows nothing
            return None
        return world
