"""Player: plays the PlannedRuns of one SearchTask in this process.

What a Run shows depends only on its PlannedRun and on what was learned before its round.
"""

from __future__ import annotations

from typing import IO

from testbed.chooser import Chooser, Cut, Plan, RunInfo
from testbed.choosers.sampling.learned import Learned, Profile
from testbed.choosers.sampling.profiler import Profiler
from testbed.choosers.sampling.sampler import Sampler
from testbed.errors import ReplayDiverged
from testbed.policy import load
from testbed.search.bounds import (
    children_of,
    chooser_for,
    plan_before,
    steps_shared,
    trail_of,
    without_trail,
)
from testbed.search.planned_run import (
    NO_PROFILE,
    Breach,
    Data,
    Outcome,
    PlannedRun,
    SearchTask,
    as_data,
)
from testbed.turns.imprint import check_steps, twice_line
from testbed.turns.option import FAULT, Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.session import play_all
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.chooser_by_name import maker_of
from testbed.world.fault_kinds import check_aim, parse_fault
from testbed.world.scenario import Scenario, find
from testbed.world.tried.judged import tried_in
from testbed.world.users_code import import_first_from
from testbed.world.world import World


class Observed(Chooser):
    """Lets another Chooser choose, and notes what a search wants to know of the Run."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.faults: list[str] = []
        self.minds_order = chooser.minds_order
        self.goes_on = chooser.goes_on
        self._profiles = not isinstance(chooser, Sampler)
        self._profiler = Profiler()

    def begin(self, run: RunInfo) -> Plan | None:
        self.faults = []
        self._profiler = Profiler()
        return self.chooser.begin(run)

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        return self.chooser.choose(options)

    def strike(self, options: Options) -> int | None:
        return self.chooser.strike(options)

    def ended(self, step: Step) -> None:
        if step.kind == FAULT:
            self.faults.append(step.option.verb)
        if self._profiles:
            self._profiler.ended(step)
        self.chooser.ended(step)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self.chooser.end(trace, verdict)

    @property
    def profile(self) -> Profile:
        """The Profile of the Run that has just ended; a Sampler has made one itself."""
        if isinstance(self.chooser, Sampler):
            return self.chooser.profile or NO_PROFILE
        return self._profiler.profile()

    @property
    def note(self) -> str:
        return self.chooser.note


class Player:
    """Plays PlannedRuns, with one Chooser of each name, since some go on from Run to Run."""

    def __init__(self, task: SearchTask) -> None:
        if task.folders:
            import_first_from(*task.folders)
        for file in task.policies:
            load(file)
        self.task = task
        self.recipe = find(task.scenario)
        self.recipe.check(task.switches)
        if task.faults:
            world = self.recipe.world(task.switches)
            for fault in map(parse_fault, task.faults):
                check_aim(fault, (*world.table.roles, *world.wire.posts))
        self.learned = Learned()
        self._choosers: dict[str, Observed] = {}

    def learn(self, learned: Data) -> None:
        """Give the Samplers what all Runs of earlier rounds have shown."""
        self.learned = Learned.of(learned)
        for observed in self._choosers.values():
            if isinstance(observed.chooser, Sampler):
                observed.chooser.learned = self.learned

    def world(self) -> World:
        """Return a new World of the SearchTask."""
        task = self.task
        world = self.recipe.world(task.switches, faults=map(parse_fault, task.faults))
        if task.allows_none:
            world.forbid()
        return world

    def chooser(self, name: str) -> Chooser:
        """Return the Chooser of that name, made on first use."""
        if name not in self._choosers:
            self._choosers[name] = Observed(self._make_chooser(name))
        return self._choosers[name].chooser

    def _make_chooser(self, name: str) -> Chooser:
        chooser = maker_of(name, self.task.seed)()
        if isinstance(chooser, Sampler):
            chooser.learned, chooser.alone = self.learned, False
        return chooser

    def play(self, planned: PlannedRun) -> Outcome:
        """Play that Run, and return what it has shown."""
        if planned.plan is None:
            self.chooser(planned.chooser)
            observed = self._choosers[planned.chooser]
        else:
            observed = Observed(chooser_for(planned.plan))
        world = self.world()
        if not self._prepare(world, observed, planned.run):
            return Outcome(planned.run, planned.chooser, "exhausted", "there is no Run left")
        try:
            play_all([world], driver=self.task.driver)
        except ReplayDiverged:
            if planned.plan is not None:
                self._tell_apart(planned)
            raise
        assert world.verdict is not None
        return outcome_of(planned, world, world.verdict, observed)

    def _prepare(self, world: World, chooser: Chooser, number: int) -> bool:
        """Prepare the World for the Run of that number; False if the Chooser has none left."""
        return world.prepare(chooser, trace=Trace({}), number=number)

    def recipe_again(self, outcome: Outcome) -> Scenario:
        """The Scenario in which the choices of that violated Run lead to the same Run again."""
        return self.recipe

    def record(self, planned: PlannedRun, learned: Data, file: IO[bytes]) -> Verdict:
        """Play that Run again as it was played after `learned`, and write its trace to a file."""
        self._choosers.clear()
        self.learn(learned)
        plan = planned.plan
        chooser = self._make_chooser(planned.chooser) if plan is None else chooser_for(plan)
        world = self.world()
        world.prepare(Observed(chooser), trace=Trace({}, sink=file), number=planned.run)
        play_all([world], driver=self.task.driver)
        assert world.verdict is not None
        return world.verdict

    def _tell_apart(self, planned: PlannedRun) -> None:
        """Raise ReplayDiverged with what a turn was and is, if it differs again.

        A plan has only a checksum of each turn of the Run that it goes on from. So that Run is
        played once more, and then the planned one, as far as both are one.
        """
        first = chooser_for(plan_before(planned.plan))
        second = chooser_for(without_trail(planned.plan))
        steps = []
        for chooser in (first, second):
            world = self.world()
            world.run(chooser, driver=self.task.driver, trace=Trace({}, keep=True))
            steps.append(world.trace.steps)
        check_steps(steps[0][: steps_shared(second)], steps[1], twice_line(world))


def outcome_of(planned: PlannedRun, world: World, verdict: Verdict, observed: Observed) -> Outcome:
    """What a Run that has ended has shown."""
    is_cut = verdict.end.startswith("cut")
    return Outcome(
        planned.run,
        planned.chooser,
        "cut" if is_cut else verdict.among_others,
        verdict.end,
        verdict.turns,
        verdict.virtual_ms,
        tuple(observed.faults),
        tuple(Breach(v.invariant, v.said, v.reason, v.alike_by) for v in verdict.violations),
        as_data(world.trace.choices) if verdict.is_violated else (),
        observed.profile,
        children_of(observed.chooser),
        trail_of(observed.chooser),
        world.judge.not_compared,
        world.judge.was_compared,
        tuple(world.judge.allowed),
        verdict.until_ms,
        tried_in(world).as_data(),
    )
