"""Channel: the socket of one connection; its requests, and what is written back and when.

What is answered is written at that moment, by the call that answers. Only what the socket does not
take at once is kept, and follows when the listener finds the socket writable.
"""

from __future__ import annotations

import math
import selectors
import socket
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Protocol

from testbed.attended.http.backlog import Backlog
from testbed.attended.http.connection import Connection
from testbed.attended.http.exchange import Exchange, HttpRequest
from testbed.attended.http.limits import HttpLimits
from testbed.attended.http.status import RequestRefused
from testbed.errors import HarnessBug

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
RECEIVE_BYTES = 64 * 1024
NEVER = math.inf


class Arrival(Exchange):
    """One request that is whole, and its Exchange on the channel it came by."""

    __slots__ = ("_channel", "_stage", "asked")

    def __init__(self, asked: HttpRequest, channel: Channel) -> None:
        self.asked = asked
        self._channel = channel
        self._stage = "asked"

    @property
    def is_gone(self) -> bool:
        return self._channel.is_closed

    def answer(self, code: int, headers: Mapping[str, str], body: bytes) -> None:
        self._pass("asked", "over")
        self._channel.answer(code, headers, body)

    def begin(self, code: int, headers: Mapping[str, str]) -> None:
        self._pass("asked", "begun")
        self._channel.begin(code, headers)

    def send(self, line: bytes) -> None:
        self._pass("begun", "begun")
        self._channel.send(line)

    def end(self) -> None:
        self._pass("begun", "over")
        self._channel.end()

    def cut(self) -> None:
        if self._stage != "over":
            self._stage = "over"
            self._channel.close()

    def _pass(self, expected: str, after: str) -> None:
        if self._stage != expected:
            what = f"{self.asked.method} {self.asked.path}"
            raise HarnessBug(f"{what}: it is {self._stage}, and was taken for {expected}")
        self._stage = after


class ChannelOwner(Protocol):
    """What a channel tells of itself: the Listener that has accepted it."""

    def heed(self, channel: Channel) -> None:
        """What it waits for, or until when, may have changed."""

    def arrived(self, exchange: Arrival) -> None:
        """A request is whole."""

    def refused(self, code: int, message: str) -> None:
        """A request was refused."""

    def weigh(self, channel: Channel, change: int) -> None:
        """So many bytes more have to wait until its program reads, or so many less."""

    def drop(self, channel: Channel) -> None:
        """Its program does not read what is written to it, and too much waits."""

    def forget(self, channel: Channel) -> None:
        """Its socket is about to be closed."""


class Channel:
    """One accepted connection. It never waits, and survives whatever the program does.

    It is asked, answered, and asked again: while one request has no answer, or the program has not
    taken all of it, the next is not looked at, though it may have come.
    """

    def __init__(
        self, sock: socket.socket, knows: Callable[[str], bool] | None, limits: HttpLimits,
        owner: ChannelOwner,
    ) -> None:  # fmt: skip
        self.socket = sock
        self.deadline = monotonic() + limits.idle_s
        """When it is cut, or refused, if nothing happens before."""
        self.is_closed = False
        self._connection = Connection(limits, knows)
        self._limits = limits
        self._owner = owner
        self._unsent = Backlog()
        self._asked: Arrival | None = None
        self.last: HttpRequest | None = None
        """The last request that was handed out."""
        self.is_watched = False
        """Whether the answer under way is one of lines."""
        self._has_more = False
        """Whether what has come already may hold the next request."""
        self._has_begun = False
        """Whether the deadline is that of a request under way."""
        self._has_ended = False
        """Whether the program sends no more."""
        self._is_full = False
        """Whether it sends further requests, and more of them than are read ahead."""
        self._is_leaving = False
        """Whether the last answer is given: it is written, and the rest only drained."""

    @property
    def events(self) -> int:
        """What its socket waits for: to be readable, writable, both or nothing.

        The next request, where it has come already, waits for writable, too: so the selector's own
        descriptor tells of it, and it is not handed out before the program has taken its answer.
        """
        reads = 0 if self._has_ended or self._is_full else READ
        return reads | (WRITE if self._unsent or self._has_more else 0)

    @property
    def is_stranger(self) -> bool:
        """Whether it has not shown a token that is known."""
        return not self._connection.is_known

    @property
    def unsent(self) -> int:
        """How many bytes wait until its program reads."""
        return len(self._unsent)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is lost if it is closed."""
        is_free = self._asked is None and not self._unsent and not self._has_more
        return self._is_leaving or (is_free and not self._connection.is_midway)

    def on_readable(self, now: float) -> None:
        """Take what has come."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        self._has_ended = not data
        if self._is_leaving:
            if self._has_ended and not self._unsent:
                self.close()
        elif self._has_ended and self.is_watched:
            # A watch cannot tell a program that is gone from one that has only nothing to say.
            self.close()
        else:
            self._connection.receive(data)
            if self._asked is None and not self._unsent:
                self._read_on(now)
            else:
                self._has_more = self._asked is None
                self._heed_ahead()
        self._owner.heed(self)

    def on_writable(self, now: float) -> None:
        """Write what is left, or look for the request that has come already."""
        if self._unsent:
            self._flush(now)
        if not self._unsent and not self.is_closed:
            if self._is_leaving:
                self._leave(now)
            elif self._has_more and self._asked is None:
                self._has_more = False
                self._read_on(now)
        self._owner.heed(self)

    def on_late(self, now: float) -> None:
        """Its deadline has passed."""
        if self._connection.is_midway and not self._is_leaving and not self._unsent:
            within = f"within {self._limits.head_s:g} s of its first byte"
            self.refuse(RequestRefused(408, f"the request was not whole {within}"), now)
        else:
            self.close()

    def refuse(self, refused: RequestRefused, now: float) -> None:
        """Answer what cannot be read, and hang up."""
        self._owner.refused(refused.code, refused.message)
        self._is_leaving = True
        self._write([self._connection.refusal(refused)])
        if not self._unsent and not self.is_closed:
            self._leave(now)
        self._owner.heed(self)

    def answer(self, code: int, headers: Mapping[str, str], body: bytes) -> None:
        """Answer the request that is asked."""
        if not self.is_closed:
            self._write([self._connection.answered(code, headers, body)])
            self._go_on()

    def begin(self, code: int, headers: Mapping[str, str]) -> None:
        """Begin to answer it in lines."""
        if self.is_closed:
            return
        self.is_watched = True
        self._write([self._connection.begun(code, headers)])
        if self._has_ended:
            self.close()
        self._owner.heed(self)

    def send(self, line: bytes) -> None:
        """Send one line."""
        if self.is_closed:
            return
        self._write(self._connection.chunk(line))
        if self._unsent:
            if len(self._unsent) > self._limits.unsent_bytes_max:
                self._owner.drop(self)
            self._owner.heed(self)

    def end(self) -> None:
        """End the answer of lines."""
        if not self.is_closed:
            self._write([self._connection.ended()])
            self._go_on()

    def close(self) -> None:
        """Close the socket; what is unsent is lost."""
        if not self.is_closed:
            self.is_closed = True
            self._owner.forget(self)
            self._owner.weigh(self, -len(self._unsent))
            self._unsent.clear()
            self.socket.close()

    def _read_on(self, now: float) -> None:
        """Hand out the next request if it is whole."""
        connection, self._is_full = self._connection, False
        try:
            asked = connection.next_request()
        except RequestRefused as refused:
            self.refuse(refused, now)
            return
        if asked is not None:
            self._asked, self._has_begun = Arrival(asked, self), False
            self.last = asked
            self.deadline = NEVER
            self._heed_ahead()
            self._owner.arrived(self._asked)
        elif connection.is_over:
            self.close()
        elif connection.is_midway:
            if not self._has_begun:
                self._has_begun, self.deadline = True, now + self._limits.head_s
            self._write([connection.go_ahead()])

    def _heed_ahead(self) -> None:
        self._is_full = self._connection.ahead > self._limits.ahead_bytes_max

    def _go_on(self) -> None:
        """The answer is given: to the next request, or to the end."""
        if self.is_closed:
            return
        now = monotonic()
        self._asked, self.is_watched = None, False
        self.deadline = now + self._limits.idle_s
        if self._connection.start_over():
            self._has_more = self._has_ended or self._connection.is_midway
        else:
            self._is_leaving = True
            if not self._unsent:
                self._leave(now)
        self._owner.heed(self)

    def _leave(self, now: float) -> None:
        """Say that nothing follows, and let the program finish: a socket that is closed while bytes
        arrive resets the connection, and the program might never read its answer."""
        if self._has_ended:
            self.close()
            return
        self.deadline, self._is_full = now + self._limits.linger_s, False
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()

    def _write(self, parts: Sequence[bytes]) -> None:
        had = len(self._unsent)
        self._unsent.add(parts)
        self._owner.weigh(self, len(self._unsent) - had)
        if not had and self._unsent:
            self._send()

    def _flush(self, now: float) -> None:
        if self._send() and self._asked is None:
            self.deadline = now + self._limits.idle_s

    def _send(self) -> bool:
        """Write what the socket takes now; whether it took anything."""
        try:
            sent = self._unsent.send(self.socket)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            self.close()
            return False
        self._owner.weigh(self, -sent)
        return True
