"""Search: plays round after round, and keeps what was found; a function of its Task.

1. The Portfolio makes the Jobs of a round; what the Ledger has of them is not played again.
2. The Engine plays the others; their Outcomes are taken in the order of their numbers.
3. A Run that breaches something is shrunk, unless many like it were; a new cause is a new Finding.
4. After the round the Portfolio and the Samplers learn from all of it, and the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

import attrs

from testbed.choosers.sampling.learned import Learned
from testbed.errors import HarnessError
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.races.racefile import parse
from testbed.races.reason import is_told_by_reason
from testbed.races.shrink import Shrunk, shrink
from testbed.races.window import narrowest, windows
from testbed.search.coverage import Coverage
from testbed.search.engine import Engine
from testbed.search.finding import Finding, Findings, cause_of, legality, reason
from testbed.search.ledger import Ledger
from testbed.search.planned_run import Breach, Outcome, PlannedRun, as_choices
from testbed.search.player import Player
from testbed.search.portfolio import NEW_FINDING, NEW_PAIR, NEW_WAY, Portfolio
from testbed.world.fault_kinds import parse_fault

INTERRUPTED = "interrupted"
TIME_IS_UP = "time is up"


class _Over(Exception):
    """Nobody waits any longer."""


def _nothing(*_: object) -> None:
    """Nobody watches."""


@attrs.frozen
class Watching:
    """Who wants to know while it goes on."""

    on_run: Callable[[], object] = _nothing
    """Called after each Run that was taken."""
    on_shrink: Callable[[int, int], None] = _nothing
    """Called while one is shrunk: Runs so far, deviations left."""
    on_breach: Callable[[Finding], object] = _nothing
    """Called with what breaches a claim for the first time, before it is shrunk."""
    on_finding: Callable[[Finding], object] = _nothing
    """Called with each new Finding, in order."""
    is_over: Callable[[], bool] = bool
    """Whether time is up; asked between two Runs, also while one is shrunk."""


NOBODY = Watching()


class Search:
    """One search, from its first Run to its last."""

    def __init__(
        self,
        player: Player,
        portfolio: Portfolio,
        engine: Engine,
        *,
        runs_max: int | None = None,
        ledger: Ledger | None = None,
        until_first: bool = False,
        level: Callable[[], str] = str,
        to_the_end: bool = False,
        watching: Watching = NOBODY,
    ) -> None:
        self.player = player
        self.portfolio = portfolio
        self.engine = engine
        self.runs_max = runs_max
        """None: as many as there are."""
        self.ledger = ledger
        self.until_first = until_first
        self.to_the_end = to_the_end
        """Whether nothing is decided before there is no Run left to play."""
        self._level = level
        self.watching = watching
        self.coverage = Coverage()
        self.learned = Learned()
        self.findings = Findings(self._told)
        self.verdicts: dict[str, int] = {}
        """How many Runs ended in each."""
        self.played_by: dict[str, int] = {}
        """How many Runs each Chooser has played."""
        self.ends: dict[str, int] = {}
        """Of those that are undecided, by which limit."""
        self.stopped = ""
        """Why it stopped before it was done; empty if it was not."""
        self.is_exhausted = False
        """Whether there was no Run left to play."""
        self._earned: dict[int, int] = {}

    @property
    def runs(self) -> int:
        """How many Runs were looked at."""
        return self.coverage.runs

    @property
    def _runs_left(self) -> int | None:
        return None if self.runs_max is None else max(self.runs_max - self.runs, 0)

    @property
    def level(self) -> str:
        """What is complete by now; empty if nothing is searched in levels."""
        planned = self.portfolio.planned
        return self._level() if planned is None else planned.level

    @property
    def found(self) -> list[Finding]:
        """What was found, in order."""
        return self.findings.found

    def play(self) -> None:
        """Go on until it is done, or stopped. What a scenario or a claim raises is raised; what was
        found before stands."""
        try:
            while not self._is_done():
                jobs = self.portfolio.round()
                self.is_exhausted = not jobs
                if jobs:
                    self._round(jobs)
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        except (Exception, SystemExit) as error:
            self.stopped = f"stopped by {type(error).__name__}"
            raise
        finally:
            self.engine.close()

    def _is_done(self) -> bool:
        if self.stopped or self.is_exhausted or self._runs_left == 0:
            return True
        return self.until_first and bool(self.found)

    def _round(self, jobs: list[PlannedRun]) -> None:
        if self.ledger is not None:
            shares = [[arm.name, arm.share] for arm in self.portfolio.arms]
            self.ledger.agree_on_round(jobs[0].run, shares)
        self._earned = {}
        outcomes = []
        with closing(self._outcomes(jobs[: self._runs_left])) as coming:
            for outcome in coming:
                outcomes.append(outcome)
                self._take(outcome)
                if self._is_cut_short():
                    return
        self.portfolio.learn(outcomes, self._earned)
        self.engine.learn(self.learned.as_dict())

    def _is_cut_short(self) -> bool:
        """Whether to stop in the middle of a round, which nobody learns from then."""
        if not self.stopped and self.watching.is_over():
            self.stopped = TIME_IS_UP
        return bool(self.stopped or self.is_exhausted or (self.until_first and self.found))

    def _outcomes(self, jobs: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Those the Ledger has, and those the Engine plays, in order; each is kept at once."""
        known = {job.run: self.ledger.outcome(job.run) if self.ledger else None for job in jobs}
        with closing(self.engine.play([job for job in jobs if known[job.run] is None])) as played:
            for job in jobs:
                outcome = known[job.run]
                if outcome is None:
                    outcome = next(played)
                    if self.ledger is not None:
                        self.ledger.keep_outcome(outcome)
                yield outcome

    def _take(self, outcome: Outcome) -> None:
        """One more Run."""
        if outcome.verdict == "exhausted":
            self.is_exhausted = True
            return
        self.verdicts[outcome.verdict] = self.verdicts.get(outcome.verdict, 0) + 1
        self.played_by[outcome.chooser] = self.played_by.get(outcome.chooser, 0) + 1
        if outcome.verdict == "undecided":
            self.ends[outcome.end] = self.ends.get(outcome.end, 0) + 1
        self.learned.add(outcome.profile)
        new_pairs, new_ways = self.coverage.add(outcome.run, outcome.profile.pairs)
        earned = NEW_WAY * new_ways + NEW_PAIR * bool(new_pairs)
        if outcome.is_violated:
            new = self.findings.take(outcome)
            earned += NEW_FINDING * bool(new)
            for finding in new:
                self.watching.on_finding(finding)
        self._earned[outcome.run] = earned
        self.watching.on_run()

    # -- what was found -------------------------------------------------------------------------

    def _told(self, outcome: Outcome, breach: Breach, name: str) -> Finding:
        """The Finding that a Run is: from the Ledger, or shrunk now."""
        why = reason(breach)
        finding = self.ledger.finding(outcome.run, why) if self.ledger else None
        if finding is None:
            finding = self._shrunk(outcome, breach, name)
            if self.ledger is not None and not self.stopped:
                self.ledger.keep_finding(outcome.run, why, finding)
        return attrs.evolve(finding, name=name)

    def _shrunk(self, outcome: Outcome, breach: Breach, name: str) -> Finding:
        """What was found is told even if nobody waits until it is shrunk, or if it cannot be."""
        whole = self._whole(outcome, breach, name)
        if not whole.race:
            return whole
        if self.findings.breaches[breach.invariant] == 1:
            self.watching.on_breach(whole)
        if self._is_over():
            why = self.stopped
            return attrs.evolve(whole, not_shrunk=why, no_window=why, is_cut_off=True)
        try:
            small = shrink(
                parse(whole.race, name),
                self.player.recipe,
                invariant=breach.invariant,
                on_run=self.watching.on_shrink,
                is_over=self._is_over,
            )
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
            return attrs.evolve(whole, is_cut_off=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is a race
            why = _said(error)
            return attrs.evolve(whole, not_shrunk=why, no_window="it is not shrunk")
        return self._measured(self._smaller(whole, small, breach), small)

    def _is_over(self) -> bool:
        if not self.stopped and self.watching.is_over():
            self.stopped = TIME_IS_UP
        return bool(self.stopped)

    def _smaller(self, whole: Finding, small: Shrunk, breach: Breach) -> Finding:
        """The same in fewer lines, as far as it came."""
        return attrs.evolve(
            whole,
            said=small.violation.said,
            cause=cause_of(small.race, reason(breach)),
            race=small.race.text(),
            deviations=len(small.race),
            faults=legality(small.race),
            not_shrunk=self.stopped if small.cut_off and self.stopped else small.cut_off,
            no_window="",
            is_cut_off=bool(small.cut_off and self.stopped),
        )

    def _measured(self, finding: Finding, small: Shrunk) -> Finding:
        """The same with its window."""

        def go_on() -> None:
            if self._is_over():
                raise _Over

        try:
            wide = windows(small.race, self.player.recipe, small.violation, go_on)
        except (KeyboardInterrupt, _Over) as error:
            self.stopped = self.stopped if isinstance(error, _Over) else INTERRUPTED
            return attrs.evolve(finding, no_window=self.stopped)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is a race
            return attrs.evolve(finding, no_window=_said(error))
        window = narrowest(wide)
        return attrs.evolve(
            finding,
            window="" if window is None else str(window),
            window_ms=None if window is None else window.width_ms,
        )

    def _whole(self, outcome: Outcome, breach: Breach, name: str) -> Finding:
        """A Run that breaches something, as it was played."""
        race, said, why = None, reason(breach), INTERRUPTED
        try:
            race = self._race(outcome, breach)
        except KeyboardInterrupt:
            # It is one Run, and all there is to show: who interrupts waits for it.
            self.stopped = INTERRUPTED
            race = self._race(outcome, breach)
        except Exception as error:  # noqa: BLE001 - whatever it is, the claim was breached
            why = f"it cannot be played again: {_said(error)}"
        return Finding(
            name=name,
            invariant=breach.invariant,
            said=breach.said,
            cause=(said,) if is_told_by_reason(said) else (said, f"run {outcome.run}"),
            race="" if race is None else race.text(),
            deviations=0 if race is None else len(race),
            window="",
            window_ms=None,
            faults=() if race is None else legality(race),
            run=outcome.run,
            chooser=outcome.chooser,
            runs=self.runs,
            level=self.level,
            not_shrunk=why,
            no_window=why,
        )

    def _race(self, outcome: Outcome, breach: Breach) -> Race:
        task = self.player.task
        faults, choices = map(parse_fault, task.faults), as_choices(outcome.choices)
        race = race_of(self.player.recipe, task.switches, choices, faults=faults)
        return attrs.evolve(race, expect=(Expectation(violates=breach.invariant),))


def _said(error: Exception) -> str:
    """In one line."""
    is_ours = isinstance(error, HarnessError)
    said = str(error) if is_ours else f"{type(error).__name__}: {error}"
    return said.partition("\n")[0]
