"""Player: plays the Jobs of one Task in this process, each Run a function of its Job and of what
was learnt before its round."""

from __future__ import annotations

import gc
import sys

from testbed.chooser import Chooser, Cut, Plan, RunInfo
from testbed.choosers.sampling.learned import Learned, Profile
from testbed.choosers.sampling.profiler import Profiler
from testbed.choosers.sampling.sampler import Sampler
from testbed.invariant import Verdict
from testbed.policy import load
from testbed.search.bounds import children, planned
from testbed.search.planned_run import (
    NO_PROFILE,
    Breach,
    Data,
    Outcome,
    PlannedRun,
    SearchTask,
    as_data,
)
from testbed.turns.option import FAULT, Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.session import play_all
from testbed.turns.trace import Step, Trace
from testbed.world.fault_kinds import check_aim, parse_fault
from testbed.world.own_chooser import maker_of
from testbed.world.scenario import COLLECT_EVERY, find
from testbed.world.world import World


class Heard(Chooser):
    """Chooses as another does, and keeps what a search wants to know of the Run."""

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
        """Of the Run that has ended; a Sampler has made its own."""
        if isinstance(self.chooser, Sampler):
            return self.chooser.profile or NO_PROFILE
        return self._profiler.profile()

    @property
    def note(self) -> str:
        return self.chooser.note


class Player:
    """Keeps one Chooser of each name, as some go on from Run to Run."""

    def __init__(self, task: SearchTask) -> None:
        for folder in task.folders:
            if folder not in sys.path:
                sys.path.insert(0, folder)
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
        self._choosers: dict[str, Heard] = {}
        self._played = 0

    def learn(self, learned: Data) -> None:
        """What all Runs of the rounds before have shown."""
        self.learned = Learned.of(learned)
        for heard in self._choosers.values():
            if isinstance(heard.chooser, Sampler):
                heard.chooser.learned = self.learned

    def world(self) -> World:
        """A new World of the Task."""
        task = self.task
        world = self.recipe.world(task.switches, faults=map(parse_fault, task.faults))
        if task.allows_none:
            world.forbid()
        return world

    def chooser(self, name: str) -> Chooser:
        """The Chooser of that name."""
        if name not in self._choosers:
            self._choosers[name] = Heard(self._made(name))
        return self._choosers[name].chooser

    def _made(self, name: str) -> Chooser:
        chooser = maker_of(name, self.task.seed)()
        if isinstance(chooser, Sampler):
            chooser.learned, chooser.alone = self.learned, False
        return chooser

    def play(self, job: PlannedRun) -> Outcome:
        """Play its Run."""
        if job.plan is None:
            self.chooser(job.chooser)
            heard = self._choosers[job.chooser]
        else:
            heard = Heard(planned(job.plan))
        world = self.world()
        if not world.prepare(heard, trace=Trace({}), number=job.run):
            return Outcome(job.run, job.chooser, "exhausted", "there is no Run left")
        play_all([world], driver=self.task.driver)
        self._played += 1
        if self._played % COLLECT_EVERY == 0:
            gc.collect()
        assert world.verdict is not None
        return _outcome(job, world, world.verdict, heard)


def _outcome(job: PlannedRun, world: World, verdict: Verdict, heard: Heard) -> Outcome:
    is_cut = verdict.end.startswith("cut")
    return Outcome(
        job.run,
        job.chooser,
        "cut" if is_cut else verdict.outcome,
        verdict.end,
        verdict.turns,
        verdict.virtual_ms,
        tuple(heard.faults),
        tuple(Breach(v.invariant, v.said) for v in verdict.violations),
        as_data(world.trace.choices) if verdict.is_violated else (),
        heard.profile,
        children(heard.chooser),
    )
