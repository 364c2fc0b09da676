"""OpenCall: one request of a real program, from its arrival until it is answered or given up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from testbed.attended.http.answers import line_of, refused, written
from testbed.attended.http.exchange import Exchange
from testbed.attended.http.meaning import ToServer, ToWatch
from testbed.errors import CONNECTION_LOST, ApiError, WatchBroken
from testbed.store.delivery import ERROR, Delivery

NEVER = math.inf
JSON_LINES = {"content-type": "application/json"}
BACKGROUND = ("leases", "events")
"""The kinds that programs write all the time, whatever happens: they do not end a silence."""


class OpenCall:
    """The way back to the program that has sent one request."""

    def __init__(
        self,
        name: str,
        exchange: Exchange,
        meant: ToServer | ToWatch,
        now_ms: Callable[[], int],
        wrote: Callable[[OpenCall], None],
    ) -> None:
        self.name = name
        """The program that asks."""
        self.exchange = exchange
        self.meant = meant
        self.path = ""
        """The task of the program that asks it; empty until it has joined."""
        self.ends_at = NEVER
        """When a watch of it is over, by the wall."""
        self.is_over = False
        """Whether it is answered, cut, or given up."""
        self._now_ms = now_ms
        self._wrote = wrote

    @property
    def counts(self) -> bool:
        """Whether it ends a silence."""
        return self.meant.operation.plural not in BACKGROUND

    @property
    def place(self) -> tuple[object, ...]:
        """Its place among what has arrived together: who asks, then what. The order in which it
        came is the machine's. Events have the wall's time in their names, so they come last."""
        operation = self.meant.operation
        is_event = operation.plural == "events"
        return self.name, is_event, operation.key, operation.asked, operation.line()

    def answer(self, value: Any) -> None:
        """Write the answer, whole."""
        assert isinstance(self.meant, ToServer)
        reply = written(value, self.meant, self._now_ms())
        self._end(lambda: self.exchange.answer(reply.code, reply.headers, reply.body))

    def refuse(self, error: ApiError) -> None:
        """Write a Status; or cut the connection, if the error says that it was lost."""
        if CONNECTION_LOST in error.causes:
            self._end(self.exchange.cut)
            return
        reply = refused(error, self.exchange.asked)
        self._end(lambda: self.exchange.answer(reply.code, reply.headers, reply.body))

    def open(self) -> None:
        """Write the head of the answer to a watch."""
        if not self.is_over:
            self.exchange.begin(200, JSON_LINES)
            self._wrote(self)

    def tell(self, delivery: Delivery) -> None:
        """Write one line of a watch; nothing if it was closed when the line was on its way."""
        if not self.is_over:
            self._send(delivery)
            self._wrote(self)

    def end(self, error: ApiError | None) -> None:
        """End a watch: in order, or after a line that says why, or by cutting it."""
        if isinstance(error, WatchBroken):
            self._end(self.exchange.cut)
            return
        if error is not None and not self.is_over:
            self._send(Delivery(ERROR, error=error))  # type: ignore[arg-type]
        self._end(self.exchange.end)

    def cut(self) -> None:
        """Cut its connection, whatever it waits for."""
        self._end(self.exchange.cut)

    def _send(self, delivery: Delivery) -> None:
        self.exchange.send(line_of(delivery, self.meant.form, self._now_ms()))

    def _end(self, write: Callable[[], None]) -> None:
        if not self.is_over:
            self.is_over = True
            write()
            self._wrote(self)
