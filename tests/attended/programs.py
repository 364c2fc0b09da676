"""Programs at the door: sockets that say raw bytes to a Listener, which is polled meanwhile."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import attrs

from testbed.attended.http.exchange import Exchange
from testbed.attended.http.listener import Listener

TOKEN = "open-sesame"
WITHIN_S = 120.0
"""Nothing here takes nearly that long; what does, hangs."""
DESCRIPTORS = "/proc/self/fd"
TINY_S = 0.002
READ_S = 0.001
"""What a counted clock goes on by whenever it is read."""


def request(
    line: bytes = b"GET / HTTP/1.1", *headers: bytes, body: bytes = b"", token: str = TOKEN
) -> bytes:
    """A request as bytes: with a Host, with the token, and with the length of its body."""
    fields = [line, b"Host: here", b"Authorization: Bearer " + token.encode(), *headers]
    if body:
        fields.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(fields) + b"\r\n\r\n" + body


@attrs.frozen
class Answered:
    """One answer, as a program reads it."""

    code: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def read(cls, raw: bytes) -> tuple[Answered, bytes] | None:
        """The first answer that is whole in these bytes, and what follows it; None if none is."""
        head, found, rest = raw.partition(b"\r\n\r\n")
        if not found:
            return None
        first, *lines = head.decode().split("\r\n")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
        code = int(first.split()[1])
        if headers.get("transfer-encoding") == "chunked":
            ends = rest.find(b"0\r\n\r\n")
            return (cls(code, headers, rest[:ends]), rest[ends + 5 :]) if ends >= 0 else None
        size = int(headers.get("content-length", "0"))
        return (cls(code, headers, rest[:size]), rest[size:]) if len(rest) >= size else None


class Program:
    """A client that says exactly these bytes, and reads what it is answered."""

    def __init__(self, listener: Listener, host: str = "127.0.0.1") -> None:
        self.listener = listener
        self.socket = socket.create_connection((host, listener.port))
        self.socket.setblocking(False)
        self.heard = b""
        """What it has read, and no test has taken yet."""
        self.is_hung_up = False
        """Whether the listener has closed the connection."""

    def say(self, data: bytes) -> None:
        """Send it; all of it, unless the listener hangs up before."""
        left = memoryview(data)
        for _ in tries("it cannot send"):
            if not left:
                return
            try:
                left = left[self.socket.send(left) :]
            except BlockingIOError:
                self.listener.poll(TINY_S)
            except OSError:
                return

    def say_no_more(self) -> None:
        """Shut down its own side; it can still read."""
        self.socket.shutdown(socket.SHUT_WR)

    def listen(self) -> None:
        """Read what is there."""
        try:
            while data := self.socket.recv(1 << 16):
                self.heard += data
            self.is_hung_up = True
        except BlockingIOError:
            pass
        except OSError:
            self.is_hung_up = True

    def answer(self) -> Answered:
        """The next answer, when it is whole."""
        pump(self.listener, self._has_answer, "it has no whole answer")
        found = Answered.read(self.heard)
        assert found is not None
        self.heard = found[1]
        return found[0]

    def hang_on(self) -> None:
        """Wait until the listener hangs up."""
        pump(self.listener, self._has_lost, "it is not hung up on")

    def read_to_the_end(self) -> None:
        """Read until the listener, which nobody polls any more, has hung up."""
        for _ in tries("it is not hung up on"):
            if self._has_lost():
                return

    def has_heard(self, text: bytes) -> bool:
        """Whether that is in what it can read by now."""
        self.listen()
        return text in self.heard

    def close(self) -> None:
        """Close its socket."""
        self.socket.close()

    def _has_answer(self) -> bool:
        self.listen()
        return Answered.read(self.heard) is not None

    def _has_lost(self) -> bool:
        self.listen()
        return self.is_hung_up


class CountedClock:
    """A clock that goes on when it is read, and never else: deadlines pass by how often a listener
    has looked, however busy the machine is."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += READ_S
        return self.now_s


@contextmanager
def program(listener: Listener, *said: bytes, host: str = "127.0.0.1") -> Iterator[Program]:
    """A program that has said this."""
    client = Program(listener, host)
    try:
        for data in said:
            client.say(data)
        yield client
    finally:
        client.close()


def descriptors() -> int:
    """How many this process has open, where that can be seen."""
    return len(os.listdir(DESCRIPTORS)) if os.path.isdir(DESCRIPTORS) else 0


def tries(what: str) -> Iterator[None]:
    """Again and again, until that is said to have lasted too long."""
    until = monotonic() + WITHIN_S
    while monotonic() < until:
        yield
    raise AssertionError(f"{what} after {WITHIN_S:g} s")


def pump(listener: Listener, is_done: Callable[[], bool], what: str = "it hangs") -> None:
    """Poll until this is so; what is asked meanwhile is answered with 200 and its path."""
    for _ in tries(what):
        if is_done():
            return
        for exchange in listener.poll(TINY_S):
            exchange.answer(200, {}, exchange.asked.path.encode())


def asked(listener: Listener, count: int = 1) -> list[Exchange]:
    """So many requests, in their order, none of them answered."""
    found: list[Exchange] = []
    for _ in tries(f"fewer than {count} requests came"):
        if len(found) >= count:
            break
        found += listener.poll(TINY_S)
    assert len(found) == count
    return found
