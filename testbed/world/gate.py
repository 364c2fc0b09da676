"""Gate: the way into a Run for what real programs do; each thing becomes a Step of the trace.

A request that joins is asked by a task of its program's life, named `http`. The task has no `start`
of its own: it runs at once to where it has asked, since a request that has arrived is a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from testbed.chooser import Chooser
from testbed.client.client import Client
from testbed.client.stream import Stream
from testbed.client.wire import Wire
from testbed.errors import ApiError, HarnessBug, Overrun
from testbed.store.delivery import Delivery
from testbed.store.endpoint import Operation
from testbed.store.footprint import Marks
from testbed.store.store import Store
from testbed.turns.life import Death, Life, Seat
from testbed.turns.option import DOOR, EXIT, JOIN, LEAVE, PASS, SAY, STOP, Option
from testbed.turns.table import Table
from testbed.turns.trace import Step, Trace

TASK = "http"
"""The name of the tasks that ask what a program has sent."""


class WayBack(Protocol):
    """The way back to a program, for what one request of it is answered.

    Each method is called within the turn that gives the answer to its caller, and returns at once.
    """

    def answer(self, value: Any) -> None:
        """The request is answered with this."""

    def refuse(self, error: ApiError) -> None:
        """The request is refused; or, if the error says that the connection was lost, it is cut."""

    def open(self) -> None:
        """The request has opened a watch."""

    def tell(self, delivery: Delivery) -> None:
        """The next Delivery of that watch."""

    def end(self, error: ApiError | None) -> None:
        """That watch has ended, by this error if there is one."""


class WhatIsEntered(Protocol):
    """What a Gate needs of its World."""

    table: Table
    wire: Wire
    store: Store


class Gate:
    """The way into one Run. Everything that is done here stands in its trace."""

    def __init__(self, entered: WhatIsEntered, trace: Trace, chooser: Chooser | None) -> None:
        """The Chooser is given if it wants to know when a Step is over."""
        self._table = entered.table
        self._wire = entered.wire
        self._store = entered.store
        self._trace = trace
        self._chooser = chooser

    def _life(self, name: str) -> Life | None:
        role = self._table.roles.get(name)
        return None if role is None else role.life

    def now_ms(self) -> int:
        """Virtual time."""
        return self._table.now_ms

    def is_up(self, name: str) -> bool:
        """Whether a life of that program goes on."""
        return self._table.roles[name].is_up

    @property
    def is_ending(self) -> bool:
        """Whether the tasks of a program that has ended are still to end, before anything else
        may happen."""
        return bool(self._table.dying)

    def is_stalled(self, name: str) -> bool:
        """Whether it is stalled now."""
        life = self._life(name)
        return life is not None and life.stalled_until_ms > self._table.now_ms

    def is_cut_off(self, name: str) -> bool:
        """Whether it is partitioned now."""
        return self._table.roles[name].cut_off_until_ms > self._table.now_ms

    def back_ms(self, names: Iterable[str]) -> int | None:
        """When the first of these programs goes on that are stalled or partitioned now."""
        roles = [self._table.roles[name] for name in names]
        ends = [role.cut_off_until_ms for role in roles if role.is_up]
        ends += [role.life.stalled_until_ms for role in roles if role.life is not None]
        return min((each for each in ends if each > self._table.now_ms), default=None)

    def join(self, name: str, operation: Operation, way: WayBack) -> str:
        """Let a request of that program join; returns the path of the task that asks it."""
        table, life = self._table, self._life(name)
        if life is None or not life.is_alive:
            raise HarnessBug(f"{operation} of {name} joins, and no life of {name} goes on")
        path = life.path_for(TASK)
        client = Client(table, self._wire, life)
        with self._step(JOIN, path, verb=operation.asked, key=operation.key) as step:
            step.operation = operation
            seat = Seat(path, life, partial(_ask, client, operation, way), table.context.copy())
            life.seats[path] = seat
            table.carry(seat)
        return path

    def leave(self, path: str) -> None:
        """The program no longer waits for what that task of it has asked."""
        life = self._life(path.partition("/")[0])
        seat = None if life is None else life.seats.get(path)
        if seat is None:
            raise HarnessBug(f"{path} leaves, and there is no such task")
        with self._step(LEAVE, path):
            self._table.cancel(seat)

    def say(self, name: str, line: str) -> None:
        """The program has written a line of its output."""
        with self._step(SAY, f"{name}/main", label=line):
            pass

    def exit(self, name: str, said: str) -> None:
        """The program has ended by itself. `said` tells how, or is empty if it was in order.

        What its tasks touch when they end belongs to this Step, so the Play closes it."""
        life = self._life(name)
        if life is None or not life.is_alive:
            raise HarnessBug(f"{name} ends, and no life of it goes on")
        self._begin(EXIT, f"{name}/main", label=said)
        self._wire.served = None
        if said:
            place = "the end of its output"
            self._table.deaths.append(Death(name, f"{name}/main", said, place))
        self._table.end_life(life)

    def pass_to(self, now_ms: int) -> None:
        """Let time pass, up to the moment at which something has joined."""
        pending = self._table.pending
        pending.now_ms = max(pending.now_ms, now_ms)
        with self._step(PASS, DOOR, choice=now_ms):
            pass

    def stop(self, why: str) -> None:
        """End the Run here, Undecided."""
        with self._step(STOP, DOOR, label=why):
            self._table.stop = self._table.stop or Overrun(why)

    @contextmanager
    def _step(self, kind: str, path: str, **about: Any) -> Iterator[Step]:
        """Note a Step that is over at once."""
        step = self._begin(kind, path, **about)
        yield step
        self._table.turn = None
        if self._chooser is not None:
            self._chooser.ended(step)

    def _begin(
        self, kind: str, path: str, verb: str = "", key: str = "", label: str = "", choice: int = 0
    ) -> Step:
        """Note a Step, and mark on it what is touched from now on."""
        table, trace = self._table, self._trace
        actor = "" if path == DOOR else path.partition("/")[0]
        option = Option(kind, path, _done, (table.step,), table.now_ms, actor)
        option.about(verb, key, label=label)
        trace.numbered += 1
        marks = Marks()
        table.step, table.marks, self._store.marks = trace.numbered, marks, marks
        step = Step(trace.numbered, option, choice, 0, marks, table.now_ms)
        if trace.is_read or self._chooser is not None:
            trace.items.append(step)
        table.turn = step
        return step


async def _ask(client: Client, operation: Operation, way: WayBack) -> None:
    """Ask what a program has sent, and give it the answer; of a watch, all that it tells."""
    try:
        answer = await client.ask(operation)
    except ApiError as error:
        way.refuse(error)
        return
    if not isinstance(answer, Stream):
        way.answer(answer)
        return
    way.open()
    try:
        while True:
            way.tell(await answer.next())
    except ApiError as error:
        way.end(error)


def _done() -> None:
    """Do nothing: what joins is no Option, and nothing performs it."""
