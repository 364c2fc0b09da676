"""Looks: the ways in which a trial looks for a race, and how each says how far it has looked.

Each plays Runs of one scenario until one of them does not hold, and never says more than it played:
only a search that came to its end is called complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.complete import Complete
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.search.sweep import sweep
from testbed.testing.seek import choosers
from testbed.turns.option import Choice
from testbed.turns.verdict import Verdict
from testbed.words import counted
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import Scenario, play_runs
from testbed.world.world import World

CUT = "cut"
"""Begins the words for the end of a Run that the complete search cut, as it would show nothing
new."""
OUT_OF_TIME = "virtual_ms_max"
"""Begins the words for the end of a Run that has used up its virtual time."""
NONE_STRUCK = "; none of the faults has struck"
"""What is added if faults were allowed, and every Run went by without one: such a trial has tried
less than its name says."""


KeptRun = tuple[Verdict, tuple[Choice, ...], tuple[Fault, ...]]
"""What a Run has shown, what it was chosen by, and the faults allowed beside the scenario's own."""


@attrs.frozen
class Shown:
    """A Run that did not hold."""

    verdict: Verdict
    choices: tuple[Choice, ...]
    faults: tuple[Fault, ...]
    """The faults that were allowed beside the scenario's own."""


@attrs.frozen
class LookedAt:
    """How far a trial has looked, and what it found."""

    words: str
    """How far, as a person reads it: `complete: every order, 46 runs`."""
    runs: int
    shown: Shown | None = None
    """The first Run that did not hold; None if each held."""


@attrs.define
class Stage:
    """What a look plays: the scenario under some switches, until a Run does not hold."""

    recipe: Scenario
    switches: Mapping[str, Any]
    faults: tuple[Fault, ...]
    runs_out: bool
    """Whether a Run may go on until its virtual time is up; if so, it counts as held. It is meant
    for programs that never rest, and claims with time limits."""
    seed: int
    on_run: Callable[[int], None]
    """Told after each Run how many there were."""
    kept: list[KeptRun] | None = None
    """Each Run that was played, if they are to be played again; None if not."""
    runs: int = 0
    shown: Shown | None = None
    may_strike: bool = False
    """Whether a fault might have struck in one of its Runs."""
    has_struck: bool = False

    def play(self, chooser: Chooser, runs_max: int) -> None:
        """Play up to `runs_max` Runs under that Chooser, unless one did not hold before."""
        if self.shown is None:
            how: dict[str, Any] = {"switches": self.switches, "faults": self.faults}
            play_runs(self.recipe, chooser, self._look, runs_max=runs_max, driver="direct", **how)

    def _look(self, world: World) -> bool:
        assert world.verdict is not None
        self.may_strike |= bool(world.allowed)
        self.has_struck |= world.faults_struck > 0
        self.take(world.verdict, world.trace.choices, self.faults)
        return self.shown is None

    def take(self, verdict: Verdict, choices: Iterable[Choice], faults: tuple[Fault, ...]) -> None:
        """Take in one more Run."""
        self.runs += 1
        if self.kept is not None:
            self.kept.append((verdict, tuple(choices), faults))
        self.on_run(self.runs)
        if self.shown is None and not self._has_held(verdict):
            self.shown = Shown(verdict, tuple(choices), faults)

    def _has_held(self, verdict: Verdict) -> bool:
        outcome = verdict.among_others
        if outcome == "held" or (outcome == "undecided" and verdict.end.startswith(CUT)):
            return True
        is_out = outcome == "undecided" and verdict.end.startswith(OUT_OF_TIME)
        return self.runs_out and is_out


@attrs.frozen
class WayToLook:
    """One way to look for a race; a trial has one."""

    def look(self, stage: Stage) -> str:
        """Play Runs on that stage; return how far was looked, in words. A trial calls it once."""
        raise NotImplementedError(f"{type(self).__name__} has no `look`")

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults that it lets strike beside those of its trial."""
        return ()


@attrs.frozen
class EveryOrder(WayToLook):
    """Every order of what happens, by the complete search, if it ends within `runs_max` Runs. If it
    does not, `random_max` random orders follow, and it is not called complete."""

    runs_max: int = 2_000
    random_max: int = 200

    def look(self, stage: Stage) -> str:
        chooser = Complete(runs_max=self.runs_max, keeps=False)
        stage.play(chooser, self.runs_max + 1)
        if stage.shown is not None:
            return f"run {stage.runs:,} of the search for every order"
        tried = chooser.faults_tried
        faults = f", ≤ {counted(tried, 'fault')}" if tried else ""
        played = counted(chooser.runs, "run")
        if chooser.is_complete:
            until = f", up to {' and '.join(sorted(chooser.limits))}" if chooser.limits else ""
            return f"complete: every order{faults}, {played}{until}"
        random = _random(stage, self.random_max, has_late=False)
        if stage.shown is not None:
            return f"run {stage.runs:,}, of random orders{faults}"
        return f"not complete: {played} of the search for every order{faults}, and {random}"


@attrs.frozen
class FewDeviations(WayToLook):
    """Every Run with so few deviations from the calm one: things that come late, and faults."""

    deviations_max: int
    faults_max: int = 0
    runs_max: int = 2_000

    def look(self, stage: Stage) -> str:
        chooser = Bounded(faults_max=self.faults_max, deviations_max=self.deviations_max)
        stage.play(chooser, self.runs_max)
        if stage.shown is not None:
            return f"run {stage.runs:,} of those with few deviations"
        return f"{chooser.frontier.level}, {counted(stage.runs, 'run')}"


@attrs.frozen
class ManyOrders(WayToLook):
    """The calm Run, Runs in which one thing is late, then random ones: `runs_max` in all."""

    runs_max: int
    has_late: bool = True
    """Whether things may be late, for as long as it takes. What must be done within a time is not
    done then; so a level with such a claim leaves these Runs out."""

    def look(self, stage: Stage) -> str:
        stage.play(Calm(), 1)
        _random(stage, self.runs_max - 1, has_late=self.has_late)
        if stage.shown is not None:
            return f"run {stage.runs:,} of {self.runs_max:,}"
        late = "things late, " if self.has_late else ""
        has_faults = stage.faults and stage.has_struck
        faults = f", {_told(stage.faults)} among them" if has_faults else ""
        return f"{counted(stage.runs, 'run')}: {late}random orders{faults}"


@attrs.frozen
class EveryMoment(WayToLook):
    """One fault at each moment of the calm Run at which it may strike, one Run for each."""

    fault: str
    """As `parse_fault` reads it: `crash,restart=2s`."""

    @property
    def faults(self) -> tuple[str, ...]:
        return (self.fault,)

    def look(self, stage: Stage) -> str:
        stage.play(Calm(), 1)
        fault = parse_fault(self.fault)
        if stage.shown is not None:
            return f"the calm run, without a {fault.word}"
        try:
            swept = sweep(allowing(stage.recipe, stage.faults), fault, switches=stage.switches)
        except ScenarioError:
            # The calm Run holds, so there is only one other reason to refuse.
            return f"the calm run, in which no {fault.word} can strike"
        for cell in swept.cells:
            stage.has_struck = True
            stage.take(cell.verdict, cell.choices, (*stage.faults, fault))
            if stage.shown is not None:
                return f"{fault.word} {cell.place.when} {cell.place.actor}'s {cell.place.operation}"
        return f"{fault.word} at each of {counted(len(swept.cells), 'moment')} of the calm run"


def looked(look: WayToLook, stage: Stage) -> LookedAt:
    """Look that way; returns how far, and what was found."""
    words = look.look(stage)
    if stage.shown is None and stage.may_strike and not stage.has_struck:
        words += NONE_STRUCK
    return LookedAt(words, stage.runs, stage.shown)


def _random(stage: Stage, runs_max: int, *, has_late: bool) -> str:
    """Play random orders, in which things may be late; returns how many, in words."""
    before = stage.runs
    # Of these only the last, a plain random walk, never holds anything back.
    drawn = [*choosers(runs_max, stage.seed)]
    for chooser, most in drawn if has_late else drawn[-1:]:
        stage.play(chooser, min(most, before + runs_max - stage.runs))
    return counted(stage.runs - before, "random run")


def _told(faults: Iterable[Fault]) -> str:
    return " and ".join(dict.fromkeys(fault.word for fault in faults))


def allowing(recipe: Scenario, faults: Sequence[Fault]) -> Scenario:
    """The scenario with these faults allowed in each of its Worlds."""
    if not faults:
        return recipe
    build = recipe.build

    def assembled(world: World, **switches: Any) -> None:
        build(world, **switches)
        world.allow(*faults)

    return attrs.evolve(recipe, build=assembled)
