"""Search: plays one round after another, and keeps what it finds; a function of its SearchTask.

1. The Portfolio makes the PlannedRuns of a round. Those whose Outcome is in the Ledger are not
   played again.
2. The Engine plays the others. Their Outcomes are taken in the order of their numbers, never in the
   order in which they end.
3. A Run that breaches a claim is shrunk, unless many like it were. A new cause is a new Finding.
4. After the round the Portfolio and the Samplers learn from all of it, and the next round begins.
   From a round that is cut short nothing is learned: where it was cut depends on the wall clock.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

import attrs

from testbed.choosers.sampling.learned import Learned
from testbed.errors import HarnessError, ReplayDiverged
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.races.racefile import parse
from testbed.races.reason import is_told_by_reason
from testbed.races.shrink import InterruptedShrink, Shrunk, shrink
from testbed.races.trying import Limits, never_over
from testbed.races.window import narrowest, windows
from testbed.search.coverage import Coverage
from testbed.search.engine import Engine
from testbed.search.finding import Finding, Findings, cause_of, legality, reason
from testbed.search.ledger import Ledger
from testbed.search.planned_run import Breach, Data, Outcome, PlannedRun, as_choices
from testbed.search.player import Player
from testbed.search.portfolio import NEW_FINDING, NEW_PAIR, NEW_WAY, Portfolio
from testbed.turns.garbage import collected_between
from testbed.world.fault_kinds import parse_fault
from testbed.world.tried.counts import TriedCounts

INTERRUPTED = "interrupted"
TIME_IS_UP = "time is up"
STOPPED = "stopped by"


class _Over(Exception):
    """Time is up, or the user has interrupted: stop measuring."""


def _nothing(*_: object) -> None:
    """Do nothing: stands for a callback that was not given."""


def _no_level() -> str:
    """Nothing: stands for the level of a search that is not in levels."""
    return ""


@attrs.frozen
class Watching:
    """What a search calls while it goes on: to show progress, write races, or stop it."""

    on_run: Callable[[], object] = _nothing
    """Called after each Run whose Outcome was taken."""
    on_shrink: Callable[[int, int], None] = _nothing
    """Called while a race is shrunk, with the Runs so far and the deviations left."""
    on_breach: Callable[[Finding], object] = _nothing
    """Called with the whole race when a claim is first breached, before it is shrunk."""
    on_finding: Callable[[Finding], object] = _nothing
    """Called with each new Finding, in order."""
    is_over: Callable[[], bool] = never_over
    """Whether time is up; asked between two Runs, also while a race is shrunk."""


UNWATCHED = Watching()


class Search:
    """One search, from its first Run to its last."""

    until_ms: int | None = None
    """The time up to which Runs were played and judged; None if each came to its end."""

    def __init__(
        self,
        player: Player,
        portfolio: Portfolio,
        engine: Engine,
        *,
        runs_max: int | None = None,
        ledger: Ledger | None = None,
        until_first: bool = False,
        level: Callable[[], str] = _no_level,
        to_the_end: bool = False,
        watching: Watching = UNWATCHED,
    ) -> None:
        self.player = player
        self.portfolio = portfolio
        self.engine = engine
        self.runs_max = runs_max
        """None: as many Runs as there are."""
        self.ledger = ledger
        self.until_first = until_first
        self.to_the_end = to_the_end
        """Whether the search is undecided until no Run is left to play."""
        self._level = level
        self.watching = watching
        self.coverage = Coverage()
        self.learned = Learned()
        self.findings = Findings(self._finding_of)
        self.verdicts: dict[str, int] = {}
        """How many Runs ended in each verdict."""
        self.played_by: dict[str, int] = {}
        """How many Runs each Chooser has played."""
        self.ends: dict[str, int] = {}
        """How many undecided Runs were ended by each limit."""
        self.compared = 0
        """How many Runs `confluent` has compared."""
        self.not_compared: dict[str, int] = {}
        """How many Runs `confluent` has compared with nothing, for each reason."""
        self.allowed: dict[str, int] = {}
        """In how many Runs claims have seen what they allow, for each word."""
        self.tried = TriedCounts()
        self.stopped = ""
        """Why it stopped before it was done; empty if it did not."""
        self.is_exhausted = False
        """Whether there was no Run left to play."""
        self.first_undecided: tuple[PlannedRun, Data] | None = None
        """The first undecided Run that came to a limit, and what was learned before its round."""
        self._written: tuple[int, Race] | None = None
        """The Run that was last written down as a Race, by its number, and that Race."""
        self._taught: Data = self.learned.as_dict()
        self._earned: dict[int, int] = {}

    @property
    def runs(self) -> int:
        """How many Runs were played, or taken from the Ledger."""
        return self.coverage.runs

    @property
    def is_refused(self) -> bool:
        """True if an error has ended it before a Run was over, so that there is nothing to say."""
        return self.stopped.startswith(STOPPED) and not self.runs

    @property
    def _runs_left(self) -> int | None:
        return None if self.runs_max is None else max(self.runs_max - self.runs, 0)

    @property
    def level(self) -> str:
        """Which level is complete by now; empty if the search is not in levels."""
        planner = self.portfolio.planner
        return self._level() if planner is None else planner.level

    @property
    def found(self) -> list[Finding]:
        """The Findings, in the order in which they were found."""
        return self.findings.found

    def play(self) -> None:
        """Go on until the search is done or stopped.

        An error of a scenario or a claim is raised here; what was found before it stays.
        """
        try:
            with collected_between():
                while not self._is_done():
                    batch = self.portfolio.round()
                    self.is_exhausted = not batch
                    if batch:
                        self._round(batch)
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        except (Exception, SystemExit) as error:
            self.stopped = f"{STOPPED} {type(error).__name__}"
            raise
        finally:
            self.engine.close()

    def _is_done(self) -> bool:
        if self.stopped or self.is_exhausted or self._runs_left == 0:
            return True
        return self.until_first and bool(self.found)

    def _round(self, batch: list[PlannedRun]) -> None:
        if self.ledger is not None:
            shares = [[arm.name, arm.share] for arm in self.portfolio.arms]
            self.ledger.agree_on_round(batch[0].run, shares)
        self._earned = {}
        outcomes = []
        with closing(self._outcomes(batch[: self._runs_left])) as coming:
            for outcome in coming:
                outcomes.append(outcome)
                self._take(outcome)
                # Without a turn it was never played to an end: a worker died of it, or hung.
                if outcome.verdict == "undecided" and outcome.turns and not self.first_undecided:
                    self.first_undecided = (batch[len(outcomes) - 1], self._taught)
                if self._is_cut_short():
                    return
        self.portfolio.learn(outcomes, self._earned)
        self._taught = self.learned.as_dict()
        self.engine.learn(self._taught)

    def _is_cut_short(self) -> bool:
        """Whether to stop in the middle of a round; nothing is learned from that round then."""
        if not self.stopped and self.watching.is_over():
            self.stopped = TIME_IS_UP
        return bool(self.stopped or self.is_exhausted or (self.until_first and self.found))

    def _outcomes(self, batch: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Yield the Outcomes of a batch in order, from the Ledger or from the Engine.

        A new one is written to the Ledger before anything is made of it, so that a search which is
        killed while it shrinks takes up the same Run again.
        """
        known = {each.run: self.ledger.outcome(each.run) if self.ledger else None for each in batch}
        with closing(self.engine.play([p for p in batch if known[p.run] is None])) as played:
            for planned in batch:
                outcome = known[planned.run]
                if outcome is None:
                    outcome = next(played)
                    if self.ledger is not None:
                        self.ledger.keep_outcome(outcome)
                yield outcome

    def _take(self, outcome: Outcome) -> None:
        """Take in one more Run: count it, shrink it if it breaches a claim, note what it earns."""
        if outcome.verdict == "exhausted":
            self.is_exhausted = True
            return
        self.verdicts[outcome.verdict] = self.verdicts.get(outcome.verdict, 0) + 1
        self.played_by[outcome.chooser] = self.played_by.get(outcome.chooser, 0) + 1
        if outcome.verdict == "undecided":
            self.ends[outcome.end] = self.ends.get(outcome.end, 0) + 1
        self.compared += outcome.was_compared
        if why := outcome.not_compared:
            self.not_compared[why] = self.not_compared.get(why, 0) + 1
        self.until_ms = self.until_ms if outcome.until_ms is None else outcome.until_ms
        for word in outcome.allowed:
            self.allowed[word] = self.allowed.get(word, 0) + 1
        if outcome.tried is not None:
            self.tried = self.tried.add(TriedCounts.of(outcome.tried))
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

    def _finding_of(self, outcome: Outcome, breach: Breach, name: str) -> Finding:
        """Return the Finding of a violated Run: from the Ledger, or shrunk now."""
        why = reason(breach)
        finding = self.ledger.finding(outcome.run, why) if self.ledger else None
        if finding is None:
            finding = self._shrunk(outcome, breach, name)
            # A shrink that was cut off depends on the wall clock: a resumed search does it again.
            if self.ledger is not None and not self.stopped:
                self.ledger.keep_finding(outcome.run, why, finding)
        return attrs.evolve(finding, name=name)

    def _shrunk(self, outcome: Outcome, breach: Breach, name: str) -> Finding:
        """Shrink and measure a violated Run; if that is cut off or fails, return it whole."""
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
                limits=Limits(is_over=self._is_over, on_run=self.watching.on_shrink),
            )
        except InterruptedShrink as interrupted:
            self.stopped = INTERRUPTED
            small = interrupted.small
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
            return attrs.evolve(whole, is_cut_off=True)
        except ReplayDiverged:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, there is a race
            why = _first_line(error)
            return attrs.evolve(whole, not_shrunk=why, no_window="it is not shrunk")
        finding = self._smaller(whole, small, breach)
        if self.player.recipe.attendance is not None:
            return attrs.evolve(finding, no_window="real programs have a time of their own")
        return self._measured(finding, small)

    def _is_over(self) -> bool:
        """Whether time is up; notes why the search stops."""
        if not self.stopped and self.watching.is_over():
            self.stopped = TIME_IS_UP
        return bool(self.stopped)

    def _smaller(self, whole: Finding, small: Shrunk, breach: Breach) -> Finding:
        """Return the Finding with the shrunk race in place of the whole one."""
        return attrs.evolve(
            whole,
            said=small.violation.said,
            reason=small.violation.reason,
            about=small.violation.about.as_dict(),
            cause=cause_of(small.race, reason(breach)),
            race=small.race.text(),
            deviations=len(small.race),
            faults=legality(small.race),
            not_shrunk=self.stopped if small.cut_off and self.stopped else small.cut_off,
            no_window="",
            is_cut_off=bool(small.cut_off and self.stopped),
        )

    def _measured(self, finding: Finding, small: Shrunk) -> Finding:
        """Return the Finding with its window."""

        def go_on() -> None:
            if self._is_over():
                raise _Over

        try:
            wide = windows(small.race, self.player.recipe, small.violation, go_on, small.played)
        except (KeyboardInterrupt, _Over) as error:
            self.stopped = self.stopped if isinstance(error, _Over) else INTERRUPTED
            return attrs.evolve(finding, no_window=self.stopped)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is a race
            return attrs.evolve(finding, no_window=_first_line(error))
        window = narrowest(wide)
        return attrs.evolve(
            finding,
            window="" if window is None else str(window),
            window_ms=None if window is None else window.width_ms,
        )

    def _whole(self, outcome: Outcome, breach: Breach, name: str) -> Finding:
        """Return the Finding of a violated Run with its whole race, not yet shrunk."""
        race, cause, why = None, reason(breach), INTERRUPTED
        try:
            race = self._race(outcome, breach)
        except KeyboardInterrupt:
            # Interrupted in the one Run that makes the race, which is all there is to show: play it
            # again to its end. A second interrupt here leaves the search.
            self.stopped = INTERRUPTED
            race = self._race(outcome, breach)
        except ReplayDiverged:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the claim was breached
            why = f"it cannot be played again: {_first_line(error)}"
        return Finding(
            name=name,
            invariant=breach.invariant,
            said=breach.said,
            cause=(cause,) if is_told_by_reason(cause) else (cause, f"run {outcome.run}"),
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
            reason=breach.reason,
        )

    def _race(self, outcome: Outcome, breach: Breach) -> Race:
        # One Run may breach several claims.
        if self._written is None or self._written[0] != outcome.run:
            task, recipe = self.player.task, self.player.recipe_again(outcome)
            faults, choices = map(parse_fault, task.faults), as_choices(outcome.choices)
            race = race_of(recipe, task.switches, choices, faults=faults)
            self._written = (outcome.run, race)
        return attrs.evolve(self._written[1], expect=(Expectation(violates=breach.invariant),))


def _first_line(error: Exception) -> str:
    """The first line of its message, with its type unless it is one of ours."""
    is_ours = isinstance(error, HarnessError)
    message = str(error) if is_ours else f"{type(error).__name__}: {error}"
    return message.partition("\n")[0]
