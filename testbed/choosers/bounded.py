"""bounded: every Run with few deviations from the calm one, fewest first, none twice.

It plays the plans of a Frontier, each as Deviating does. `complete up to 2 deviations, 1 fault`
means all sets of that many decisions, where time passes only when nothing else can happen.
"""

from __future__ import annotations

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.deviations.deviating import Deviating
from testbed.choosers.deviations.frontier import Frontier
from testbed.turns.option import Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.words import counted


class Bounded(Chooser):
    """Plays one plan after another, in one process."""

    def __init__(self, *, faults_max: int = 1, deviations_max: int | None = 2) -> None:
        self.frontier = Frontier(faults_max=faults_max, deviations_max=deviations_max)
        self._run: Deviating

    def begin(self, run: RunInfo) -> Plan | None:
        if run.number == 0:
            self.frontier = Frontier(
                faults_max=self.frontier.faults_max, deviations_max=self.frontier.deviations_max
            )
        plan = self.frontier.next()
        if plan is None:
            return None
        frontier = self.frontier
        self._run = Deviating(
            plan, faults_max=frontier.faults_max, deviations_max=frontier.deviations_max
        )
        return self._run.begin(run)

    def choose(self, options: Options | Alternatives) -> Choice:
        return self._run.choose(options)

    def ended(self, step: Step) -> None:
        self._run.ended(step)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        trail = self._run.trail
        self.frontier.told([attrs.evolve(plan, trail=trail) for plan in self._run.children])

    @property
    def note(self) -> str:
        return f"So far {self.frontier.level}, {counted(self.frontier.runs, 'run')}."
