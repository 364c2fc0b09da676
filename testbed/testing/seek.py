"""Seek: a test plays Runs of a scenario until one breaches a claim, and gets it shrunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.choosers.bounded import Bounded
from testbed.choosers.pct import PCT
from testbed.choosers.pos import POS
from testbed.choosers.sampling.learned import Learned
from testbed.choosers.surw import SURW
from testbed.choosers.uniform import Uniform
from testbed.choosers.urw import URW
from testbed.errors import UnknownName
from testbed.fault import Fault
from testbed.races.playing import race_of
from testbed.races.shrink import Shrunk, shrink
from testbed.search.effort import EFFORTS
from testbed.testing.failure import failure_text
from testbed.testing.run import Recipe, faults_of, not_held, recipe_of
from testbed.turns.option import Choice
from testbed.turns.verdict import UNTRIED, Verdict
from testbed.words import counted
from testbed.world.fault_kinds import check_aim
from testbed.world.scenario import Scenario, play_runs
from testbed.world.tried.counts import TriedCounts
from testbed.world.tried.judged import tried_in
from testbed.world.tried.saying import notable
from testbed.world.world import World

SAMPLERS = (URW, SURW, POS, PCT)
"""The choosers that sample Runs after the Runs of one deviation, before a plain random walk."""


@attrs.frozen
class Sought:
    """The result of a search: what it found, and how far it looked."""

    recipe: Scenario
    runs: int
    """How many Runs were played, not counting those for shrinking."""
    undecided: tuple[Verdict, ...]
    """The Verdicts of Runs that reached a limit."""
    not_compared: int
    """How many Runs `confluent` has compared with nothing."""
    shrunk: Shrunk | None
    """The first breach, as the smallest race for it; None if there was none."""
    tried: TriedCounts = attrs.field(factory=TriedCounts)
    """What was tried in all Runs together."""

    def must_hold(self) -> None:
        """Raise NotHeld, with the story, if a race was found or if no Run came to its end."""
        __tracebackhide__ = True
        if self.shrunk is not None:
            invariant = self.shrunk.violation.invariant
            name = f"{self.recipe.build.__name__}-{invariant}"
            raise not_held(invariant)(self.failure_text(name))
        if nothing := self.tried.why_nothing:
            lines = [f"{UNTRIED}: {nothing}", *notable(self.tried)]
            raise not_held("undecided")("\n".join((self.looked, *lines)))
        if len(self.undecided) == self.runs:
            raise not_held("undecided")(f"{self.looked}\n{self.undecided[0]}")

    def failure_text(self, name: str) -> str:
        """The text for the race that was found. Its file is left in `.testbed/` under that name."""
        assert self.shrunk is not None
        played = self.shrunk.played
        text = failure_text(played.verdict, played.trace, self.shrunk.race, name)
        return f"{self.looked}\n{text}"

    @property
    def looked(self) -> str:
        """How far it looked, in one line."""
        if self.shrunk is not None and not len(self.shrunk.race):
            return f"{self.recipe.name}: the calm run breaches a claim, so it takes no race:"
        if self.shrunk is not None:
            return f"{self.recipe.name}: a breach in run {self.runs:,}, shrunk to this:"
        more = f", {len(self.undecided):,} of them undecided" if self.undecided else ""
        more += f", {self.not_compared:,} of them not compared" if self.not_compared else ""
        return f"{self.recipe.name}: no breach in {counted(self.runs, 'run')}{more}."


def runs_of(effort: str) -> int:
    """How many Runs that effort allows; UnknownName if it is not the name of one."""
    runs = {name: effort.runs_max for name, effort in EFFORTS.items() if effort.runs_max}
    if effort not in runs:
        raise UnknownName("effort", effort, runs, see="say runs=1000, or one of these")
    return runs[effort]


def choosers(runs_max: int, seed: int) -> Iterator[tuple[Chooser, int]]:
    """The choosers in their order, each with the most Runs it may play.

    First the Runs of one deviation, at most half of all. Then the samplers, an equal share each;
    they learn from one another's Runs. A plain random walk plays what is left.
    """
    learned = Learned()
    yield Bounded(deviations_max=1), (runs_max + 1) // 2
    each = runs_max // 2 // (len(SAMPLERS) + 1)
    for sampler in SAMPLERS:
        yield sampler(seed, learned), each
    yield Uniform(seed), runs_max


def seek(
    recipe: Recipe,
    *,
    effort: str = "quick",
    runs: int | None = None,
    seed: int = 0,
    switches: Mapping[str, Any] | None = None,
    faults: Iterable[Fault | str] = (),
) -> Sought:
    """Play up to `runs` Runs, or those of `effort`, few deviations first; shrink the first race."""
    runs_max = runs or runs_of(effort)
    scenario, allowed = recipe_of(recipe), faults_of(faults)
    world = scenario.world(switches)
    for fault in allowed:
        check_aim(fault, (*world.table.roles, *world.wire.posts))
    undecided: list[Verdict] = []
    found: list[list[Choice]] = []
    not_compared, tried = 0, TriedCounts()

    def look(world: World) -> bool:
        nonlocal not_compared, tried
        assert world.verdict is not None
        not_compared += bool(world.judge.not_compared)
        tried = tried.add(tried_in(world))
        if world.verdict.among_others == "undecided":
            undecided.append(world.verdict)
        if world.verdict.is_violated:
            found.append(world.trace.choices)
        return not found

    played = 0
    for chooser, most in choosers(runs_max, seed):
        if not found:
            played += play_runs(
                scenario,
                chooser,
                look,
                runs_max=min(most, runs_max - played),
                switches=switches,
                faults=allowed,
                driver="direct",
            )
    if not found:
        return Sought(scenario, played, tuple(undecided), not_compared, None, tried)
    race = race_of(scenario, switches or {}, found[0], faults=allowed)
    small = shrink(race, scenario)
    return Sought(scenario, played, tuple(undecided), not_compared, small, tried)
