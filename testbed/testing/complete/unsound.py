"""Unsound: a complete search with one part of it edited, which must then miss a class of Runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import attrs

from testbed.chooser import Chooser, Cut, Plan, RunInfo
from testbed.choosers.complete import Complete
from testbed.choosers.equivalence.orders import (
    NO_TOUCH,
    Keys,
    OrderedTurn,
    Past,
    Picked,
    turn_of,
    with_path,
)
from testbed.testing.complete.edits import Edit, edited
from testbed.testing.complete.worlds import Scene
from testbed.testing.mutant import Hunt, Mutant
from testbed.turns.option import PICK, Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.words import counted
from testbed.world.scenario import of, play_runs

CLAIM = "every_class_is_seen"
"""The name by which it is said that a search misses no class."""
RUNS_MAX = 2_000
"""How many Runs a search of one of these Worlds may take."""
Form = tuple[Any, ...]
"""One class of Runs, in normal form."""


class Witness(Chooser):
    """Whatever another Chooser does; notes the turns of its Runs, and believes nothing it says."""

    goes_on = True
    minds_order = True

    def __init__(self, inner: Chooser) -> None:
        self.inner = inner
        self.runs: list[list[OrderedTurn]] = []
        """The turns of each Run that was not cut."""
        self._picks: list[Picked] = []
        self._steps: list[tuple[Step, tuple[Picked, ...]]] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self._picks, self._steps = [], []
        return self.inner.begin(run)

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        choice = self.inner.choose(options)
        if isinstance(options, Alternatives) and isinstance(choice, int):
            one = options[choice]
            self._picks.append((one.verb, one.label, choice, len(options)))
        return choice

    def strike(self, options: Options) -> int | None:
        return self.inner.strike(options)

    def ended(self, step: Step) -> None:
        self.inner.ended(step)
        if step.kind != PICK:
            picks, self._picks = tuple(self._picks), []
            self._steps.append((step, picks))

    def end(self, trace: Trace, verdict: Verdict) -> None:
        if not verdict.end.startswith("cut"):
            place_of = {step.number: place for place, (step, _) in enumerate(self._steps)}
            turns = []
            for step, picks in self._steps:
                did = with_path(step.did, step.option.path)
                turns.append(turn_of(step, picks, place_of, did, NO_TOUCH))
            self.runs.append(turns)
        self.inner.end(trace, verdict)

    def forms(self) -> frozenset[Form]:
        """The classes of these Runs. To be asked only when nothing is edited any more."""
        keys = Keys()
        return frozenset(form_of(run, keys) for run in self.runs)


def form_of(run: Iterable[OrderedTurn], keys: Keys) -> Form:
    """The class of a Run: what it has in common with all that differ in the order alone of turns
    that commute."""
    past = Past()
    for turn in run:
        past.add(attrs.evolve(turn, touch=keys.touch(turn.did)))
    return tuple((turn.content, directly) for turn, directly in past.form())


def seen_by(chooser: Chooser, scene: Scene, runs_max: int = RUNS_MAX) -> tuple[Witness, int]:
    """Play a Chooser in that World to its end; what was witnessed, and in how many Runs."""
    witness = Witness(chooser)
    scenario = of(scene.build, "scene")
    runs = play_runs(scenario, witness, lambda _: True, runs_max=runs_max, driver="direct")
    return witness, runs


@cache
def every_class(scene: Scene) -> frozenset[Form]:
    """The classes that the search as it is sees."""
    chooser = Complete(keeps=False)
    witness, _ = seen_by(chooser, scene)
    assert chooser.is_complete
    return witness.forms()


@attrs.frozen
class Unsound(Mutant):
    """One edit of the complete search, and a World in which it then misses a class of Runs."""

    scene: Scene = attrs.field(kw_only=True)
    edits: tuple[Edit, ...] = attrs.field(kw_only=True)

    def hunted(self, *, runs_max: int, seed: int, switches: Mapping[str, Any] | None) -> Hunt:
        """Search the World with the edit, and compare with the search as it is."""
        expected = every_class(self.scene)
        chooser = Complete(keeps=False)
        with edited(self.edits):
            witness, runs = seen_by(chooser, self.scene, min(runs_max, RUNS_MAX))
        missed = len(expected - witness.forms())
        is_over = chooser.is_complete
        said = f"it misses {missed:,} of {counted(len(expected), 'class', 'es')}"
        return Hunt(self, runs, said if missed and is_over else "")
