"""Sharing: does work of which each part stands alone in several processes, in the order of one.

1. It begins here, since what is soon done is not worth a process.
2. Then forks of this process do one part each, and the next one when they are ready. So the work
   needs no name by which another process could find it; only its results travel.
3. A result that comes early waits for its turn.
4. A part that raises, or in which its process dies, is done here at its turn: it raises here, or
   shows what it would have shown.

Where this process cannot be forked, it does all of it.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any, Generic, TypeVar

import attrs

from testbed.child import IN_ONE, Child, Jobs, can_fork, forked
from testbed.turns.garbage import collected_between

Result = TypeVar("Result")
LENGTH = 8
"""The bytes before each answer that say how long it is."""


def shared_out(
    work: Callable[[int], Result], count: int, jobs: Jobs = IN_ONE
) -> Generator[Result, None, None]:
    """Yield `work(0)`, `work(1)`, … up to `count` of them. What `work` returns is pickled, so it
    should be small."""
    part, alone_s = 0, jobs.alone_s
    with collected_between():
        while part < count and (jobs.most == 1 or alone_s > 0 or not can_fork()):
            began_s = time.monotonic()
            result = work(part)
            alone_s -= time.monotonic() - began_s
            part += 1
            yield result
    if part < count:
        yield from _Sharers(work, range(part, count), jobs.most).results()


@attrs.define(eq=False)
class _Sharer:
    """One fork, and what it does now."""

    child: Child
    part: int | None = None
    received: bytearray = attrs.field(factory=bytearray)
    """What has arrived of its answer so far."""

    def answer(self) -> bytes | None:
        """The answer, once it is whole."""
        if len(self.received) < LENGTH:
            return None
        length = LENGTH + int.from_bytes(self.received[:LENGTH])
        if len(self.received) < length:
            return None
        answer, self.received = bytes(self.received[LENGTH:length]), self.received[length:]
        return answer


class _Sharers(Generic[Result]):
    """The forks that do one piece of work."""

    def __init__(self, work: Callable[[int], Result], parts: range, jobs: int) -> None:
        self._work = work
        self._parts = parts
        self._waiting = deque(parts)
        self._done: dict[int, bytes] = {}
        """By part: its result, or nothing if it is to be done here."""
        self._jobs = jobs
        self._sharers: list[_Sharer] = []
        self._selector = DefaultSelector()

    def results(self) -> Generator[Result, None, None]:
        """Yield the result of each part in turn; end every fork in the end."""
        try:
            for part in self._parts:
                while part not in self._done:
                    self._hand_out()
                    self._take_in()
                answer = self._done.pop(part)
                yield pickle.loads(answer) if answer else self._work(part)
        finally:
            for sharer in self._sharers:
                sharer.child.end()
            self._selector.close()

    def _hand_out(self) -> None:
        while self._waiting:
            idle = [sharer for sharer in self._sharers if sharer.part is None]
            if not idle and len(self._sharers) == self._jobs:
                return
            sharer = idle[0] if idle else self._start()
            sharer.part = self._waiting.popleft()
            sharer.child.send(b"%d\n" % sharer.part)

    def _take_in(self) -> None:
        for key, _ in self._selector.select():
            sharer: _Sharer = key.data
            arrived = sharer.child.receive()
            sharer.received += arrived
            if not arrived:
                self._dismiss(sharer)
            elif (answer := sharer.answer()) is not None and sharer.part is not None:
                self._done[sharer.part] = answer
                sharer.part = None

    def _start(self) -> _Sharer:
        sharer = _Sharer(forked(partial(_serve, self._work), __file__))
        self._sharers.append(sharer)
        self._selector.register(sharer.child.out, EVENT_READ, sharer)
        return sharer

    def _dismiss(self, sharer: _Sharer) -> None:
        """It has died: what it did is done here, and another takes its place."""
        if sharer.part is not None:
            self._done[sharer.part] = b""
        self._sharers.remove(sharer)
        self._selector.unregister(sharer.child.out)
        sharer.child.end()


def _serve(work: Callable[[int], Any], asked: IO[bytes], answers: IO[bytes]) -> None:
    with collected_between():
        for line in asked:
            try:
                answer = pickle.dumps(work(int(line)))
            except (Exception, SystemExit):  # noqa: BLE001 - whatever it is, it will be met here
                answer = b""
            answers.write(len(answer).to_bytes(LENGTH) + answer)
            answers.flush()
