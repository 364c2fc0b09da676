"""The Engines: wherever Runs are played, and whatever befalls it, the Outcomes are the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.errors import HarnessBug
from testbed.search.engines import processes
from testbed.search.engines.here import Here
from testbed.search.engines.processes import AHEAD_BYTES, Processes
from testbed.search.planned_run import Outcome, PlannedRun, SearchTask
from testbed.search.player import Player
from tests.shared.planned_runs import planned_runs

TASK = SearchTask("double_bind", faults=("crash",))
ROUGH = """
    import os, sys, time
    from testbed import Actor
    import attrs

    @attrs.frozen
    class Writer(Actor):
        async def run(self, client):
            client.record("wrote")

    def deadly(world, *, where="here"):
        world.start(Writer("alpha"))
        if where == "kill":
            os.kill(os.getpid(), 9)
        if where == "sleep":
            while True:
                time.sleep(1)
        if where == "spin":
            while True:
                pass
        if where == "raise":
            raise ZeroDivisionError("of its own")
        if where == "leave":
            sys.exit(5)

    def elsewhere(world):
        world.start(Writer("alpha"))
        assert not sys.argv[0].endswith("worker.py")

    def fragile(world, *, file=""):
        world.start(Writer("alpha"))
        if os.path.exists(file):
            os.remove(file)
            os.kill(os.getpid(), 9)
"""


def here(count: int) -> list[Outcome]:
    """What this process shows."""
    return list(Here(Player(TASK)).play(planned_runs(count)))


@contextmanager
def workers(
    task: SearchTask, count: int, hang_s: float = 60, alone_s: float = 0
) -> Iterator[Processes]:
    """Processes that are gone afterwards."""
    engine = Processes(Player(task), count, hang_s=hang_s, alone_s=alone_s)
    try:
        yield engine
    finally:
        pids = engine.pids
        engine.close()
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


@pytest.fixture
def rough(own: Path) -> Path:
    """A module of one's own, with scenarios that do what none should."""
    (own / "rough.py").write_text(dedent(ROUGH), encoding="utf-8")
    return own


@pytest.fixture(params=["forked", "spawned"])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How workers are started: as forks of this process, or from nothing."""
    kind: str = request.param
    monkeypatch.setattr(processes, "can_fork", lambda: kind == "forked")
    return kind


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.usefixtures("start")
def test_other_processes_show_what_this_one_does(count: int) -> None:
    """In the order of the batch, to the byte; also after a lesson."""
    lesson = Player(TASK).learned.as_dict()
    with workers(TASK, count) as engine:
        outcomes = list(engine.play(planned_runs(10)))
        engine.learn(lesson)
        outcomes += engine.play(planned_runs(20)[10:])
        assert engine.reports == []
    assert outcomes == here(20)


def test_what_is_soon_done_is_played_here() -> None:
    """No process is started for it; what comes after its time is played in workers."""
    with workers(TASK, 2, alone_s=60) as engine:
        outcomes = list(engine.play(planned_runs(20)))
        assert engine.pids == []
        engine._alone_s = 1e-9
        outcomes += engine.play(planned_runs(40)[20:])
        assert len(engine.pids) == 2
    assert outcomes == here(40)


def test_short_runs_are_given_to_workers_before_they_ask_for_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Several at once while many are left, then one by one; and no more than a pipe holds."""
    monkeypatch.setattr(processes, "AHEAD_S", 1)
    with workers(TASK, 2) as engine:
        playing = engine.play(planned_runs(60))
        outcomes = [next(playing)]
        most = 0
        for outcome in playing:
            outcomes.append(outcome)
            owed = [len(worker.given) for worker in engine._workers]
            most = max(most, *owed)
            assert sum(owed) <= 60 - len(outcomes)
            assert all(worker.bytes_ahead < 2 * AHEAD_BYTES for worker in engine._workers)
        assert most > 1
        assert all(worker.bytes_ahead == 0 for worker in engine._workers)
    assert outcomes == here(60)


def test_a_worker_that_is_killed_with_runs_ahead_is_blamed_for_the_first_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that it has not begun are played by others, and no death is counted for them."""
    monkeypatch.setattr(processes, "AHEAD_S", 1)
    with workers(TASK, 1) as engine:
        outcomes = list(engine.play(planned_runs(12)))
        playing = engine.play(planned_runs(60)[12:])
        outcomes.append(next(playing))
        (worker,) = engine._workers
        os.kill(worker.child.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, worker.child.pid, os.WSTOPPED)
        assert len(worker.given) > 1
        os.kill(worker.child.pid, signal.SIGKILL)
        outcomes += playing
        assert len(engine._deaths) == len(engine.reports) == 1
    assert outcomes == here(60)


@pytest.mark.usefixtures("start")
@pytest.mark.parametrize("scenario", ["lost_update", "rough:deadly"])
def test_what_lies_in_the_current_folder_is_not_taken_for_what_is_installed(
    rough: Path, scenario: str
) -> None:
    """A worker imports what this process has imported, whatever has the same name here."""
    (rough / "scenarios/basics").mkdir(parents=True)
    for name in ("scenarios/__init__", "scenarios/basics/lost_update", "sortedcontainers"):
        (rough / f"{name}.py").write_text("raise ImportError('not this one')\n", encoding="utf-8")
    with workers(SearchTask(scenario), 1) as engine:
        (outcome,) = engine.play([PlannedRun(0, "calm")])
        assert (outcome.verdict, engine.reports) == ("held", [])


def test_a_worker_that_is_killed_changes_nothing() -> None:
    """Killed for real, at work and at rest: another takes its place, and both are told."""
    with workers(TASK, 2) as engine:
        outcomes = [*engine.play(planned_runs(12))]
        playing = engine.play(planned_runs(24)[12:])
        _, second = engine.pids
        # What is stopped is given its Run, and does not answer before it is killed.
        os.kill(second, signal.SIGSTOP)
        os.waitid(os.P_PID, second, os.WSTOPPED)
        outcomes.append(next(playing))
        os.kill(second, signal.SIGKILL)
        outcomes += playing
        idle = engine.pids[0]
        os.kill(idle, signal.SIGKILL)
        os.waitid(os.P_PID, idle, os.WEXITED | os.WNOWAIT)
        outcomes += engine.play(planned_runs(36)[24:])
        at_work, at_rest = engine.reports
    assert outcomes == here(36)
    assert "was ended by signal 9 in run 13; another plays that run again" in at_work
    assert "was ended by signal 9 between two runs" in at_rest


def test_a_run_that_kills_its_worker_twice_is_undecided(rough: Path) -> None:
    """It is not tried for ever."""
    with workers(SearchTask("rough:deadly", {"where": "kill"}), 1) as engine:
        (outcome,) = engine.play([PlannedRun(0, "uniform")])
        assert (outcome.verdict, outcome.children) == ("undecided", None)
        assert [report.partition(" in run ")[2] for report in engine.reports] == [
            "0; another plays that run again",
            "0, the second one in that run; it is Undecided",
        ]


def test_a_run_that_kills_its_worker_once_is_played_again(rough: Path) -> None:
    """What struck from outside may not strike again."""
    (rough / "trap").touch()
    with workers(SearchTask("rough:fragile", {"file": "trap"}), 1) as engine:
        verdicts = [
            outcome.verdict for outcome in engine.play([PlannedRun(0, "pos"), PlannedRun(1, "pos")])
        ]
    assert verdicts == ["held", "held"]


@pytest.mark.parametrize("where", ["sleep", "spin"])
def test_a_worker_that_hangs_is_killed(rough: Path, where: str) -> None:
    """Its Run is Undecided, and the reason is told."""
    with workers(SearchTask("rough:deadly", {"where": where}), 1, hang_s=0.5) as engine:
        (outcome,) = engine.play([PlannedRun(7, "uniform")])
        assert (outcome.verdict, outcome.end) == ("undecided", "it did not end within 0.5 s")
        assert "was killed: run 7 did not end within 0.5 s" in engine.reports[0]


def test_what_raises_in_a_worker_raises_here(rough: Path) -> None:
    """Bare, as if there were no workers: the user sees his own line."""
    with (
        workers(SearchTask("rough:deadly", {"where": "raise"}), 1) as engine,
        pytest.raises(ZeroDivisionError, match="of its own"),
    ):
        list(engine.play([PlannedRun(0, "uniform")]))


def test_a_scenario_that_leaves_is_an_error_here_too(rough: Path) -> None:
    """Its worker does not die of that."""
    with (
        workers(SearchTask("rough:deadly", {"where": "leave"}), 1) as engine,
        pytest.raises(SystemExit, match="5"),
    ):
        list(engine.play([PlannedRun(0, "uniform")]))


def test_what_raises_in_a_worker_alone_is_told(rough: Path) -> None:
    """Something differs between two processes, and a Run may not depend on it."""
    with (
        workers(SearchTask("rough:elsewhere"), 1) as engine,
        pytest.raises(HarnessBug, match="run 0 raised in a worker, and does not here"),
    ):
        list(engine.play([PlannedRun(0, "uniform")]))


def test_what_is_given_up_leaves_nothing_behind() -> None:
    """An Engine whose Outcomes nobody wants any more can still play others."""
    with workers(TASK, 2) as engine:
        played = engine.play(planned_runs(10))
        next(played)
        played.close()
        assert list(engine.play(planned_runs(4))) == here(4)
