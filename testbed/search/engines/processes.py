"""processes: plays in worker processes over pipes, and replaces each that dies or hangs.

- *A worker dies* in a Run: the Run is played once more in another worker. Where it is played does
  not matter, so a worker that was killed from outside changes no result.
- *A second worker dies* in that Run: then the Run itself is the likely cause. It is Undecided.
- *A worker hangs*: it is killed, and the Run is Undecided. To play it again would only hang again.
- *A Run raises*: it is played again in this process, and raises here, at its turn.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from collections.abc import Generator, Sequence
from selectors import EVENT_READ, DefaultSelector

import attrs

from testbed.child import child_command, child_env
from testbed.errors import HarnessBug
from testbed.objects.codec import encode
from testbed.search.planned_run import Data, Outcome, PlannedRun
from testbed.search.player import Player

WORKER = "testbed.search.engines.worker"
HANG_S = 120.0
"""How long a Run may take until its worker is killed. The watchdog ends a slow turn far earlier."""
DEATHS_MAX = 2
"""A Run in which this many workers have died is not played again."""
LOOK_EVERY_S = 1.0
PIPE_BYTES = 1 << 16


_Done = dict[int, Outcome | None]
"""By the number of a Run: its Outcome, or None if it raised."""


@attrs.define(eq=False)
class _Worker:
    """One worker process, and what it does now."""

    number: int
    process: subprocess.Popen[bytes]
    lesson: int = 0
    """The number of the last lesson it was given."""
    planned: PlannedRun | None = None
    """The Run it plays now; None if it is idle."""
    since_s: float = 0.0
    received: bytearray = attrs.field(factory=bytearray)
    """The part of a line that has arrived so far."""

    def send(self, message: Data) -> None:
        """Send it one line. If the worker is gone, that shows when it is read from."""
        assert self.process.stdin is not None
        line = memoryview(encode(message) + b"\n")
        try:
            while line:
                line = line[self.process.stdin.write(line) :]
        except BrokenPipeError:
            pass

    def receive(self) -> bytes | None:
        """Return a line once it is whole, `b""` until then; None if the worker is gone."""
        assert self.process.stdout is not None
        part = os.read(self.process.stdout.fileno(), PIPE_BYTES)
        if not part:
            return None
        self.received += part
        if not self.received.endswith(b"\n"):
            return b""
        line, self.received = bytes(self.received), bytearray()
        return line

    def end(self) -> int:
        """Kill it if it still runs; return its exit code, which is negative for a signal."""
        process = self.process
        process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
        return code


class Processes:
    """Plays in up to `workers_max` workers, each started when there is something for it to play."""

    def __init__(self, player: Player, workers_max: int, *, hang_s: float = HANG_S) -> None:
        self.player = player
        """Plays here the Runs that raised in a worker."""
        self.reports: list[str] = []
        self._workers_max = workers_max
        self._hang_s = hang_s
        self._workers: list[_Worker] = []
        self._started = 0
        self._selector = DefaultSelector()
        self._lesson = 0
        self._learned: Data = {}
        self._deaths: dict[int, int] = {}
        """By the number of a Run: how many workers have died in it."""

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        return [worker.process.pid for worker in self._workers]

    def learn(self, learned: Data) -> None:
        """Keep the lesson: each worker gets it before its next Run."""
        self._lesson += 1
        self._learned = learned
        self.player.learn(learned)

    def play(self, batch: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Play them in the workers; an Outcome that comes early waits for its turn."""
        waiting, done = deque(batch), _Done()
        try:
            for planned in batch:
                while planned.run not in done:
                    self._hand_out(waiting, done)
                    self._take_in(waiting, done)
                yield done.pop(planned.run) or self._raise_here(planned)
        finally:
            # Closed early: the Outcomes that these workers still owe would be taken for those of
            # the next batch.
            for worker in [each for each in self._workers if each.planned is not None]:
                self._dismiss(worker)

    def close(self) -> None:
        """End every worker."""
        for worker in [*self._workers]:
            self._dismiss(worker)
        self._selector.close()

    # -- giving and taking ----------------------------------------------------------------------

    def _hand_out(self, waiting: deque[PlannedRun], done: _Done) -> None:
        # A worker may have died while it was idle; no Run is lost by that.
        for worker in [each for each in self._workers if each.planned is None]:
            if worker.process.poll() is not None:
                self._died(worker, waiting, done)
        while waiting:
            idle = [each for each in self._workers if each.planned is None]
            if not idle and len(self._workers) == self._workers_max:
                return
            worker = idle[0] if idle else self._start()
            if worker.lesson < self._lesson:
                worker.send({"learn": self._learned})
                worker.lesson = self._lesson
            worker.planned = waiting.popleft()
            worker.since_s = time.monotonic()
            worker.send({"job": worker.planned.as_dict()})

    def _take_in(self, waiting: deque[PlannedRun], done: _Done) -> None:
        for key, _ in self._selector.select(LOOK_EVERY_S):
            worker: _Worker = key.data
            line = worker.receive()
            if line is None:
                self._died(worker, waiting, done)
            elif line:
                failed = b'"failed"' in line[:10]
                done[self._run_of(worker)] = None if failed else Outcome.parse(line)
                worker.planned = None
        for worker in [each for each in self._workers if each.planned is not None]:
            if time.monotonic() - worker.since_s > self._hang_s:
                self._hung(worker, done)

    def _run_of(self, worker: _Worker) -> int:
        if worker.planned is None:
            raise HarnessBug(f"worker {worker.number} answered what nobody asked")
        return worker.planned.run

    def _raise_here(self, planned: PlannedRun) -> Outcome:
        """Play it again at its turn, to raise here: the Outcomes before it are taken first."""
        self.player.play(planned)
        raise HarnessBug(
            f"run {planned.run} raised in a worker, and does not here.\n"
            "Next: testbed bench determinism"
        )

    # -- what goes wrong ------------------------------------------------------------------------

    def _died(self, worker: _Worker, waiting: deque[PlannedRun], done: _Done) -> None:
        planned, pid = worker.planned, worker.process.pid
        code = self._dismiss(worker)
        by = f"signal {-code}" if code < 0 else f"exit code {code}"
        report = f"worker {worker.number} (pid {pid}) was ended by {by}"
        if planned is None:
            self.reports.append(f"{report} between two runs; another takes its place")
            return
        run = planned.run
        deaths = self._deaths[run] = self._deaths.get(run, 0) + 1
        if deaths < DEATHS_MAX:
            waiting.appendleft(planned)
            self.reports.append(f"{report} in run {run}; another plays that run again")
            return
        self.reports.append(f"{report} in run {run}, the second one in that run; it is Undecided")
        done[run] = Outcome(run, planned.chooser, "undecided", f"workers died of it, by {by}")

    def _hung(self, worker: _Worker, done: _Done) -> None:
        planned, pid = worker.planned, worker.process.pid
        assert planned is not None
        self._dismiss(worker)
        end = f"it did not end within {self._hang_s:g} s"
        done[planned.run] = Outcome(planned.run, planned.chooser, "undecided", end)
        self.reports.append(
            f"worker {worker.number} (pid {pid}) was killed: run {planned.run} did not end within "
            f"{self._hang_s:g} s; it is Undecided"
        )

    # -- processes ------------------------------------------------------------------------------

    def _start(self) -> _Worker:
        """Start a worker in a session of its own, so that Ctrl-C reaches the search alone."""
        self._started += 1
        process = subprocess.Popen(
            child_command(WORKER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_env(),
            bufsize=0,
            start_new_session=True,
        )
        worker = _Worker(self._started, process)
        self._workers.append(worker)
        assert process.stdout is not None
        self._selector.register(process.stdout, EVENT_READ, worker)
        worker.send({"task": self.player.task.as_dict()})
        return worker

    def _dismiss(self, worker: _Worker) -> int:
        self._workers.remove(worker)
        assert worker.process.stdout is not None
        self._selector.unregister(worker.process.stdout)
        return worker.end()
