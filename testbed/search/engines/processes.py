"""processes: plays in worker processes over pipes, and replaces each that dies or hangs.

- *Work that is soon done* is not worth a process: as long as all Runs together have not taken
  `alone_s`, they are played here.
- *A worker* is a fork of this process, if it can be forked. Short Runs are given to it a few at a
  time, so that it never waits for the next; towards the end of a batch the Runs that are left are
  given one by one, so that all workers end together.
- *A worker dies* in a Run: the Run is played once more in another worker. Where it is played does
  not matter, so a worker that was killed from outside changes no result.
- *A second worker dies* in that Run: then the Run itself is the likely cause. It is Undecided.
- *A worker hangs*: it is killed, and the Run is Undecided. To play it again would only hang again.
  It hangs if it has spent `hang_s` of processor time on one Run, or has slept that long: one that
  waits for a processor of a busy machine has done neither.
- *A Run raises*: it is played again in this process, and raises here, at its turn.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from selectors import EVENT_READ, DefaultSelector

import attrs

from testbed.child import Child, can_fork, forked, spawned
from testbed.errors import HarnessBug
from testbed.objects.codec import encode
from testbed.search.engines import worker as of_worker
from testbed.search.planned_run import Data, Outcome, PlannedRun
from testbed.search.player import Player

HANG_S = 120.0
"""How long a Run may take until its worker is killed. The watchdog ends a slow turn far earlier."""
ASLEEP = 0.01
"""A worker that spends less than this share of its time on a processor sleeps."""
DEATHS_MAX = 2
"""A Run in which this many workers have died is not played again."""
LOOK_EVERY_S = 1.0
AHEAD_S, NAP_S = 0.01, 0.001
"""A worker is given Runs ahead that take about so long together. While all have some, this process
looks only now and then: to be woken for each answer costs as much as a short Run."""
AHEAD_BYTES = 1 << 15
"""The most that may wait in the pipe to a worker: less than a pipe holds, or both might wait for
each other to read."""


_Done = dict[int, Outcome | None]
"""By the number of a Run: its Outcome, or None if it raised."""


@attrs.define(eq=False)
class _Worker:
    """One worker process, and what it does now."""

    number: int
    child: Child
    lesson: int = 0
    """The number of the last lesson it was given."""
    given: deque[tuple[PlannedRun, int]] = attrs.field(factory=deque)
    """The Runs it owes, with the bytes that each takes in the pipe; it plays the first one now."""
    since_s: float = 0.0
    """When it has begun with that one."""
    bytes_ahead: int = 0
    _looked: tuple[float, float] = (0.0, 0.0)
    """When the Run had begun at which it was looked at last, and what it had spent by then."""
    _unsent: list[bytes] = attrs.field(factory=list)
    _rest: bytes = b""
    """The part of a line that has arrived so far."""

    def tell(self, message: Data) -> int:
        """Write it one line, to be sent with the next ones; return how long that is."""
        line = encode(message) + b"\n"
        self._unsent.append(line)
        return len(line)

    def send(self) -> None:
        """Send what was written."""
        if self._unsent:
            self.child.send(b"".join(self._unsent))
            self._unsent = []

    def give(self, planned: PlannedRun) -> None:
        """Let it play this Run after those that it owes."""
        if not self.given:
            self.since_s = time.monotonic()
        size = self.tell({"job": planned.as_dict()})
        self.given.append((planned, size))
        self.bytes_ahead += size

    def answers(self, part: bytes) -> Iterator[tuple[PlannedRun, bytes]]:
        """Each Run of which the answer is now whole, with the line."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            if not self.given:
                raise HarnessBug(f"worker {self.number} answered what nobody asked")
            planned, size = self.given.popleft()
            self.bytes_ahead -= size
            yield planned, line

    def hangs(self, now_s: float, hang_s: float) -> bool:
        """Whether it has spent `hang_s` on the Run that it plays, or slept that long."""
        began_s, spent_s = self._looked
        if began_s != self.since_s:
            self._looked = (self.since_s, self.child.spent_s())
        if began_s != self.since_s or now_s - began_s <= hang_s:
            return False
        spent_s = self.child.spent_s() - spent_s
        return spent_s > hang_s or spent_s < (now_s - began_s) * ASLEEP


class Processes:
    """Plays in up to `workers_max` workers, each started when there is something for it to play."""

    def __init__(
        self, player: Player, workers_max: int, *, hang_s: float = HANG_S, alone_s: float = 0.0
    ) -> None:
        self.player = player
        """Plays here what is soon done, and the Runs that raised in a worker."""
        self.reports: list[str] = []
        self._workers_max = workers_max
        self._hang_s = hang_s
        self._alone_s = alone_s
        """How long all Runs may still take in this process."""
        self._workers: list[_Worker] = []
        self._started = 0
        self._selector = DefaultSelector()
        self._lesson = 0
        self._learned: Data = {}
        self._deaths: dict[int, int] = {}
        """By the number of a Run: how many workers have died in it."""
        self._answered = 0
        self._busy_s = 0.0
        """How long the workers have taken for all that they have answered."""

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        return [worker.child.pid for worker in self._workers]

    def learn(self, learned: Data) -> None:
        """Keep the lesson: each worker gets it before its next Run."""
        self._lesson += 1
        self._learned = learned
        self.player.learn(learned)

    def play(self, batch: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Play them in the workers; an Outcome that comes early waits for its turn."""
        waiting, done = deque(batch), _Done()
        yield from self._played_here(waiting)
        try:
            for planned in tuple(waiting):
                while planned.run not in done:
                    self._hand_out(waiting)
                    self._take_in(waiting, done)
                yield done.pop(planned.run) or self._raise_here(planned)
        finally:
            # Closed early: the Outcomes that these workers still owe would be taken for those of
            # the next batch.
            for worker in [each for each in self._workers if each.given]:
                self._dismiss(worker)

    def close(self) -> None:
        """End every worker."""
        for worker in [*self._workers]:
            self._dismiss(worker)
        self._selector.close()

    def _played_here(self, waiting: deque[PlannedRun]) -> Generator[Outcome, None, None]:
        """Play the first of them here, while that is worth no process."""
        while waiting and self._alone_s > 0:
            began_s = time.monotonic()
            outcome = self.player.play(waiting.popleft())
            self._alone_s -= time.monotonic() - began_s
            yield outcome

    # -- giving and taking ----------------------------------------------------------------------

    def _hand_out(self, waiting: deque[PlannedRun]) -> None:
        while waiting and (worker := self._ready(len(waiting))) is not None:
            if worker.lesson < self._lesson:
                worker.tell({"learn": self._learned})
                worker.lesson = self._lesson
            worker.give(waiting.popleft())
        for worker in self._workers:
            worker.send()

    def _ready(self, waiting: int) -> _Worker | None:
        """The worker that gets the next Run while so many wait; None if each worker has enough."""
        for worker in [each for each in self._workers if not each.given]:
            if not worker.child.is_gone():
                return worker
            # It has died while it was idle; no Run is lost by that.
            self._died(worker, deque(), {})
        if len(self._workers) < self._workers_max:
            return self._start()
        worker = min(self._workers, key=lambda each: len(each.given))
        ahead = min(AHEAD_S * self._answered // (self._busy_s or 1), waiting // self._workers_max)
        has_room = len(worker.given) <= ahead and worker.bytes_ahead < AHEAD_BYTES
        return worker if has_room else None

    def _take_in(self, waiting: deque[PlannedRun], done: _Done) -> None:
        if all(len(worker.given) > 1 for worker in self._workers):
            time.sleep(NAP_S)
        ready = self._selector.select(LOOK_EVERY_S)
        now_s = time.monotonic()
        for key, _ in ready:
            worker: _Worker = key.data
            part = worker.child.receive()
            if not part:
                self._died(worker, waiting, done)
                continue
            for planned, line in worker.answers(part):
                done[planned.run] = None if b'"failed"' in line[:10] else Outcome.parse(line)
                self._answered += 1
                self._busy_s += now_s - worker.since_s
                worker.since_s = now_s
        for worker in [each for each in self._workers if each.given]:
            if worker.hangs(now_s, self._hang_s):
                self._hung(worker, waiting, done)

    def _raise_here(self, planned: PlannedRun) -> Outcome:
        """Play it again at its turn, to raise here: the Outcomes before it are taken first."""
        self.player.play(planned)
        raise HarnessBug(
            f"run {planned.run} raised in a worker, and does not here.\n"
            "Next: testbed bench determinism"
        )

    # -- what goes wrong ------------------------------------------------------------------------

    def _died(self, worker: _Worker, waiting: deque[PlannedRun], done: _Done) -> None:
        planned, pid = self._taken_back(worker, waiting), worker.child.pid
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

    def _hung(self, worker: _Worker, waiting: deque[PlannedRun], done: _Done) -> None:
        planned, pid = self._taken_back(worker, waiting), worker.child.pid
        assert planned is not None
        self._dismiss(worker)
        end = f"it did not end within {self._hang_s:g} s"
        done[planned.run] = Outcome(planned.run, planned.chooser, "undecided", end)
        self.reports.append(
            f"worker {worker.number} (pid {pid}) was killed: run {planned.run} did not end within "
            f"{self._hang_s:g} s; it is Undecided"
        )

    def _taken_back(self, worker: _Worker, waiting: deque[PlannedRun]) -> PlannedRun | None:
        """The Run that it plays, or None; others are to play those that it has not begun."""
        if not worker.given:
            return None
        (playing, _), *ahead = worker.given
        waiting.extendleft(planned for planned, _ in reversed(ahead))
        return playing

    # -- processes ------------------------------------------------------------------------------

    def _start(self) -> _Worker:
        """Start a worker in a session of its own, so that Ctrl-C reaches the search alone."""
        self._started += 1
        if can_fork():
            child = forked(partial(of_worker.play, self.player), of_worker.__file__)
            worker = _Worker(self._started, child, self._lesson)
        else:
            worker = _Worker(self._started, spawned(of_worker.__name__))
            worker.tell({"task": self.player.task.as_dict()})
        self._workers.append(worker)
        self._selector.register(worker.child.out, EVENT_READ, worker)
        return worker

    def _dismiss(self, worker: _Worker) -> int:
        self._workers.remove(worker)
        self._selector.unregister(worker.child.out)
        return worker.child.end()
