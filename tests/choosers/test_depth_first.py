"""The Chooser protocol carries a complete search: every Run of a small scenario, each just once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from math import comb
from typing import TypeVar

import attrs
import pytest

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.faults.crash import Crash
from testbed.turns.option import Sentence
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, find, of, play_runs
from testbed.world.world import World
from tests.models.worlds.small_worlds import has_next


class DepthFirst(Chooser):
    """Every Run there is: after each, the last choice that had another side takes the next."""

    def __init__(self, depth_max: int = 1000) -> None:
        self.depth_max = depth_max
        self.path: list[list[int]] = []
        """Of each choice of the Run under way, its index and how many there were."""
        self.depth = 0
        self.done: list[Sentence] = []
        self.runs: dict[tuple[Sentence, ...], str] = {}
        self.cut = 0

    def begin(self, run: RunInfo) -> Plan | None:
        if not run.number:
            self.path.clear()
        elif not has_next(self.path):
            return None
        self.depth = 0
        self.done = []
        return Plan(f"depth first, run {run.number}")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if self.depth == self.depth_max:
            return CUT
        if self.depth == len(self.path):
            self.path.append([0, len(options)])
        self.depth += 1
        return self.path[self.depth - 1][0]

    def ended(self, step: Step) -> None:
        self.done.append(step.sentence)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        if verdict.end.startswith("cut"):
            self.cut += 1
        else:
            self.runs[tuple(self.done)] = verdict.outcome


T = TypeVar("T")
RUNS_MAX = 20_000
LOST_UPDATE = find("lost_update")


def crashing(world: World, *, guard: bool = False) -> None:
    """Two writers, either of which may crash once, for good; the Store stays."""
    LOST_UPDATE.build(world, guard=guard)
    world.allow(Crash("*a", restart_after_ms=None))


def all_runs(scenario: Scenario, guard: str, chooser: DepthFirst | None = None) -> DepthFirst:
    """Play until the Chooser says that there is none left."""
    chooser = DepthFirst() if chooser is None else chooser
    played = play_runs(
        scenario, chooser, lambda _: True, runs_max=RUNS_MAX, switches={"guard": guard},
        driver="direct",
    )  # fmt: skip
    assert played < RUNS_MAX, "it did not say that it was done"
    assert chooser.begin(RunInfo(scenario.name, played, 0, lambda: 0)) is None
    assert len(chooser.runs) + chooser.cut == played, "one Run was played twice"
    return chooser


# -- an independent count -------------------------------------------------------------------------


class At(IntEnum):
    """Where a writer is. The last two: it is dead, and its request is still on its way."""

    NEW, READS, HAS_READ, WRITES, HAS_WRITTEN, IS_REFUSED, OVER, GHOST_READS, GHOST_WRITES = range(
        9
    )


AFTER_CRASH = {
    At.READS: At.GHOST_READS,
    At.HAS_READ: At.OVER,
    At.WRITES: At.GHOST_WRITES,
    At.HAS_WRITTEN: At.OVER,
    At.IS_REFUSED: At.OVER,
}


@attrs.frozen
class Model:
    """The writers and their list, without any of the testbed."""

    guard: bool
    crashes: int
    at: tuple[At, ...] = (At.NEW, At.NEW)
    saw: tuple[tuple[int, frozenset[int]], ...] = ((0, frozenset()), (0, frozenset()))
    """What each has read: how often the list had been written, and who stood on it."""
    told: frozenset[int] = frozenset()
    """Who was told that it had signed."""
    written: int = 0
    listed: frozenset[int] = frozenset()

    def next(self) -> Iterator[Model]:
        """What each turn, and each crash, would make of it."""
        for who, at in enumerate(self.at):
            match at:
                case At.NEW | At.IS_REFUSED:
                    yield self.moved(who, At.READS)
                case At.READS:
                    now = attrs.evolve(self, saw=_with(self.saw, who, (self.written, self.listed)))
                    yield now.moved(who, At.HAS_READ)
                case At.HAS_READ:
                    yield self.moved(who, At.WRITES)
                case At.WRITES | At.GHOST_WRITES:
                    yield self.write(who, is_dead=at == At.GHOST_WRITES)
                case At.HAS_WRITTEN:
                    yield attrs.evolve(self, told=self.told | {who}).moved(who, At.OVER)
                case At.GHOST_READS:
                    yield self.moved(who, At.OVER)
            if self.crashes and at in AFTER_CRASH:
                yield attrs.evolve(self, crashes=self.crashes - 1).moved(who, AFTER_CRASH[at])

    def moved(self, who: int, at: At) -> Model:
        """The same, with one writer elsewhere."""
        return attrs.evolve(self, at=_with(self.at, who, at))

    def write(self, who: int, *, is_dead: bool) -> Model:
        """Its write takes effect, or is refused; it puts back the list it has read, and itself."""
        knew, names = self.saw[who]
        if self.guard and knew != self.written:
            return self.moved(who, At.OVER if is_dead else At.IS_REFUSED)
        now = attrs.evolve(self, written=self.written + 1, listed=names | {who})
        return now.moved(who, At.OVER if is_dead else At.HAS_WRITTEN)


def _with(some: tuple[T, ...], place: int, one: T) -> tuple[T, ...]:
    return (*some[:place], one, *some[place + 1 :])


@cache
def counted(model: Model) -> tuple[int, int]:
    """How many ways lead on from here to an end that holds, and to one that does not."""
    ways = [counted(other) for other in model.next()]
    if not ways:
        return (1, 0) if model.told <= model.listed else (0, 1)
    return sum(held for held, _ in ways), sum(violated for _, violated in ways)


def found(search: DepthFirst) -> tuple[int, int]:
    """How many Runs held, and how many were violated."""
    outcomes = list(search.runs.values())
    assert set(outcomes) <= {"held", "violated"}
    return outcomes.count("held"), outcomes.count("violated")


# -- what it finds --------------------------------------------------------------------------------


def test_every_run_of_two_naive_writers_is_played_once() -> None:
    """Each writer has five turns (start, read, answer, write, answer), always one of them ready;
    two such sequences interleave in 10! / (5! 5!) = 252 ways. All are found, no two the same, and
    the model says how many of them lose a name."""
    search = all_runs(LOST_UPDATE, "off")
    assert len(search.runs) == comb(10, 5) == 252
    assert found(search) == counted(Model(guard=False, crashes=0))
    assert min(found(search)) > 0


def test_of_all_runs_of_two_careful_writers_none_is_violated() -> None:
    """The guarded writer tries again when it is refused, so there are more Runs; the same number
    as the model has, all held: within two writers this is complete."""
    search = all_runs(LOST_UPDATE, "on")
    assert found(search) == counted(Model(guard=True, crashes=0))
    assert found(search) == (len(search.runs), 0)
    assert len(search.runs) > 252


@pytest.mark.parametrize("guard", ["off", "on"])
def test_every_run_with_a_crash_is_played_once(guard: str) -> None:
    """Either writer may die between any two of its turns, at most one of them: what it has sent
    still takes effect, what it would be told is told to nobody. The model counts the same, and
    guarded nobody's name is lost."""
    search = all_runs(of(crashing), guard)
    assert found(search) == counted(Model(guard=guard == "on", crashes=1))
    crashed = [run for run in search.runs if any(sentence.kind == "fault" for sentence in run)]
    assert len(crashed) > len(search.runs) / 2
    assert all(sum(sentence.verb == "crash" for sentence in run) == 1 for run in crashed)
    assert (found(search)[1] == 0) is (guard == "on")


def test_a_run_that_is_cut_is_counted_apart() -> None:
    """CUT ends a Run Undecided. Cut at five choices, as many Runs are cut as there are ways to
    begin: each of the five turns is one of two, and after five of one writer its Run goes on."""
    search = all_runs(LOST_UPDATE, "off", DepthFirst(depth_max=5))
    assert (search.cut, search.runs) == (2**5, {})
    world = LOST_UPDATE.world()
    verdict = world.run(DepthFirst(depth_max=5))
    assert (verdict.outcome, verdict.turns) == ("undecided", 5)
    assert str(verdict).startswith("Undecided: cut: the chooser ended this run.")


def test_the_sixty_lines_are_kept() -> None:
    """The protocol is small enough that a whole search fits a page."""
    assert len(inspect.getsource(DepthFirst).splitlines()) <= 60
