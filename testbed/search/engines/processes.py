"""processes: in worker processes over pipes, each watched, and replaced when it dies or hangs.

A Run whose worker died is played once more in another one, since a Run does not depend on where it
is played: what was killed from outside changes no result. A Run that takes its second worker with
it, or hangs one, is Undecided. A Run that raised is played again here, and raises here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Sequence
from selectors import EVENT_READ, DefaultSelector

import attrs

from testbed.errors import HarnessBug
from testbed.objects.codec import encode
from testbed.search.planned_run import Data, Outcome, PlannedRun
from testbed.search.player import Player

WORKER = "testbed.search.engines.worker"
HANG_S = 120.0
"""A worker that says nothing for so long is killed. The watchdog ends a slow turn far earlier."""
DEATHS_MAX = 2
"""A Run that has ended so many workers is not tried again."""
LOOK_EVERY_S = 1.0
PIPE_BYTES = 1 << 16


_Done = dict[int, Outcome | None]
"""By Run, what came of it; None if it raised."""


@attrs.define(eq=False)
class _Worker:
    """One process, and what is known of it."""

    number: int
    process: subprocess.Popen[bytes]
    knows: int = 0
    """Which lesson it has learnt last."""
    job: PlannedRun | None = None
    """The Run it plays."""
    since_s: float = 0.0
    said: bytearray = attrs.field(factory=bytearray)
    """The part of a line that has come so far."""

    def ask(self, question: Data) -> None:
        """One line to it. That it is gone is seen when it is listened to."""
        assert self.process.stdin is not None
        line = memoryview(encode(question) + b"\n")
        try:
            while line:
                line = line[self.process.stdin.write(line) :]
        except BrokenPipeError:
            pass

    def listen(self) -> bytes | None:
        """The whole line it has said, an empty one if it is not whole yet; None if it is gone."""
        assert self.process.stdout is not None
        part = os.read(self.process.stdout.fileno(), PIPE_BYTES)
        if not part:
            return None
        self.said += part
        if not self.said.endswith(b"\n"):
            return b""
        line, self.said = bytes(self.said), bytearray()
        return line

    def end(self) -> int:
        """Make sure that it is gone; its exit code, negative for a signal."""
        process = self.process
        process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
        return code


class Processes:
    """So many workers, begun when there is something to play."""

    def __init__(self, player: Player, workers_max: int, *, hang_s: float = HANG_S) -> None:
        self.player = player
        """Plays here what no worker could."""
        self.reports: list[str] = []
        self._workers_max = workers_max
        self._hang_s = hang_s
        self._workers: list[_Worker] = []
        self._begun = 0
        self._selector = DefaultSelector()
        self._lesson = 0
        self._learned: Data = {}
        self._deaths: dict[int, int] = {}

    @property
    def pids(self) -> list[int]:
        """Of the workers that run now."""
        return [worker.process.pid for worker in self._workers]

    def learn(self, learned: Data) -> None:
        """Each worker is told before its next Run."""
        self._lesson += 1
        self._learned = learned
        self.player.learn(learned)

    def play(self, jobs: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Whichever ends first is kept until it is its turn."""
        waiting, done = deque(jobs), _Done()
        try:
            for job in jobs:
                while job.run not in done:
                    self._hand_out(waiting, done)
                    self._take_in(waiting, done)
                yield done.pop(job.run) or self._raised(job)
        finally:
            for worker in [each for each in self._workers if each.job is not None]:
                self._dismiss(worker)

    def close(self) -> None:
        """End every worker."""
        for worker in [*self._workers]:
            self._dismiss(worker)
        self._selector.close()

    # -- giving and taking ----------------------------------------------------------------------

    def _hand_out(self, waiting: deque[PlannedRun], done: _Done) -> None:
        for worker in [each for each in self._workers if each.job is None]:
            if worker.process.poll() is not None:
                self._died(worker, waiting, done)
        while waiting:
            idle = [each for each in self._workers if each.job is None]
            if not idle and len(self._workers) == self._workers_max:
                return
            worker = idle[0] if idle else self._begin()
            if worker.knows < self._lesson:
                worker.ask({"learn": self._learned})
                worker.knows = self._lesson
            worker.job = waiting.popleft()
            worker.since_s = time.monotonic()
            worker.ask({"job": worker.job.as_dict()})

    def _take_in(self, waiting: deque[PlannedRun], done: _Done) -> None:
        for key, _ in self._selector.select(LOOK_EVERY_S):
            worker: _Worker = key.data
            line = worker.listen()
            if line is None:
                self._died(worker, waiting, done)
            elif line:
                failed = b'"failed"' in line[:10]
                done[self._run_of(worker)] = None if failed else Outcome.parse(line)
                worker.job = None
        for worker in [each for each in self._workers if each.job is not None]:
            if time.monotonic() - worker.since_s > self._hang_s:
                self._hung(worker, done)

    def _run_of(self, worker: _Worker) -> int:
        if worker.job is None:
            raise HarnessBug(f"worker {worker.number} answered what nobody asked")
        return worker.job.run

    def _raised(self, job: PlannedRun) -> Outcome:
        """It raises here when it is its turn: what comes before it is taken first."""
        self.player.play(job)
        raise HarnessBug(
            f"run {job.run} raised in a worker, and does not here.\nNext: testbed bench determinism"
        )

    # -- what goes wrong ------------------------------------------------------------------------

    def _died(self, worker: _Worker, waiting: deque[PlannedRun], done: _Done) -> None:
        job, pid = worker.job, worker.process.pid
        code = self._dismiss(worker)
        by = f"signal {-code}" if code < 0 else f"exit code {code}"
        said = f"worker {worker.number} (pid {pid}) was ended by {by}"
        if job is None:
            self.reports.append(f"{said} between two runs; another takes its place")
            return
        deaths = self._deaths[job.run] = self._deaths.get(job.run, 0) + 1
        if deaths < DEATHS_MAX:
            waiting.appendleft(job)
            self.reports.append(f"{said} in run {job.run}; another plays that run again")
            return
        self.reports.append(f"{said} in run {job.run}, the second one in that run; it is Undecided")
        done[job.run] = Outcome(job.run, job.chooser, "undecided", f"workers died of it, by {by}")

    def _hung(self, worker: _Worker, done: _Done) -> None:
        job, pid = worker.job, worker.process.pid
        assert job is not None
        self._dismiss(worker)
        end = f"it did not end within {self._hang_s:g} s"
        done[job.run] = Outcome(job.run, job.chooser, "undecided", end)
        self.reports.append(
            f"worker {worker.number} (pid {pid}) was killed: run {job.run} did not end within "
            f"{self._hang_s:g} s; it is Undecided"
        )

    # -- processes ------------------------------------------------------------------------------

    def _begin(self) -> _Worker:
        """In a session of its own, so that Ctrl-C is for the search alone; what this process can
        import, it can. Where both look in the current folder, it does so last until it has a
        scenario of one's own to find, as this process did."""
        self._begun += 1
        folders = [folder for folder in sys.path if folder] + [os.getcwd()] * ("" in sys.path)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
            bufsize=0,
            start_new_session=True,
        )
        worker = _Worker(self._begun, process)
        self._workers.append(worker)
        assert process.stdout is not None
        self._selector.register(process.stdout, EVENT_READ, worker)
        worker.ask({"task": self.player.task.as_dict()})
        return worker

    def _dismiss(self, worker: _Worker) -> int:
        self._workers.remove(worker)
        assert worker.process.stdout is not None
        self._selector.unregister(worker.process.stdout)
        return worker.end()
