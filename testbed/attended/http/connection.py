"""Connection: HTTP/1.1 as one program speaks it: bytes to whole requests, answers to bytes.

It touches no socket, and is the door of h11. What h11 lets pass and this project does not want is
refused here: unknown tokens, too long heads and bodies, framing that two readers could read in two
ways, versions and methods that Kubernetes does not speak.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.limits import HttpLimits
from testbed.attended.http.status import RequestRefused, phrase, status
from testbed.attended.http.target import read_target
from testbed.attended.http.tokens import split
from testbed.errors import ScenarioError

try:
    import h11
except ModuleNotFoundError as error:
    raise ScenarioError(
        "real programs are spoken to over HTTP, which takes a package that is not installed: "
        f"{error.name}.\nNext: pip install 'multisched-testbed[attach]'"
    ) from error

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BODILESS = (204, 304)

_DATA_END = h11.EndOfMessage()


class Connection:
    """One connection of a program: a row of requests, each answered before the next is read."""

    def __init__(self, limits: HttpLimits, knows: Callable[[str], bool] | None = None) -> None:
        self._limits = limits
        self._knows = knows
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head_bytes_max)
        self._size = 0
        """How many bytes have come since the last request was answered, framing included."""
        self._head: HttpRequest | None = None
        self._body = bytearray()
        self.is_known = False
        """Whether it has shown a token that is known, or none is asked for."""
        self.is_over = False
        """Whether the program has closed it where a connection may be closed."""

    def receive(self, data: bytes) -> None:
        """Take what has arrived; empty if the program sends no more."""
        self._size += len(data)
        self._h11.receive_data(data)

    @property
    def is_midway(self) -> bool:
        """Whether a part of a request has come, and not all of it."""
        return self._size > 0

    @property
    def ahead(self) -> int:
        """How many bytes have come that belong to no request yet handed out."""
        return len(self._h11.trailing_data[0])

    def next_request(self) -> HttpRequest | None:
        """The request that is now whole, or None; RequestRefused if it never will be."""
        try:
            while True:
                event = self._h11.next_event()
                if isinstance(event, h11.Request):
                    self._head = self._judged(event)
                elif isinstance(event, h11.Data):
                    self._body += event.data
                    self._weigh(len(self._body))
                elif isinstance(event, h11.EndOfMessage):
                    return self._whole()
                else:
                    self.is_over = isinstance(event, h11.ConnectionClosed)
                    self._weigh_framing()
                    return None
        except h11.RemoteProtocolError as error:
            raise self._unreadable(error) from None

    def go_ahead(self) -> bytes:
        """What a program waits for that asked whether it may send its body; empty if none does."""
        if not self._h11.they_are_waiting_for_100_continue:
            return b""
        return self._h11.send(h11.InformationalResponse(status_code=100, headers=[]))

    def answered(self, code: int, headers: Mapping[str, str], body: bytes) -> bytes:
        """A whole answer. Of one to HEAD the length is told, and the body left out."""
        framed = {**headers, "Content-Length": str(len(body))} if code != 204 else headers
        parts = [self._opened(code, framed)]
        if body and code not in BODILESS and not self._is_head_only:
            parts += self._h11.send_with_data_passthrough(h11.Data(data=body)) or ()
        parts.append(self._h11.send(_DATA_END))
        return b"".join(parts)

    def begun(self, code: int, headers: Mapping[str, str]) -> bytes:
        """The head of an answer of chunks; to HTTP/1.0, of one that ends with the connection."""
        return self._opened(code, headers)

    def chunk(self, line: bytes) -> list[bytes]:
        """One chunk of it, in parts; none if there can be none, as the program asked for HEAD."""
        if self._is_head_only:
            return []
        return self._h11.send_with_data_passthrough(h11.Data(data=line)) or []

    def ended(self) -> bytes:
        """The last chunk."""
        return self._h11.send(_DATA_END)

    def refusal(self, refused: RequestRefused) -> bytes:
        """The answer to what cannot be read; nothing follows it."""
        headers = {"Content-Type": "application/json", "Connection": "close"}
        if refused.code == 429:
            headers["Retry-After"] = "1"
        body = status(refused.code, refused.reason, refused.message)
        return self.answered(refused.code, headers, body)

    def start_over(self) -> bool:
        """Make ready for the next request; False if none may follow."""
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        self._h11.start_next_cycle()
        self._head, self._body, self._size = None, bytearray(), self.ahead
        return True

    @property
    def _is_head_only(self) -> bool:
        return self._head is not None and self._head.method == "HEAD"

    def _opened(self, code: int, headers: Mapping[str, str]) -> bytes:
        fields = [(name.encode(), value.encode()) for name, value in headers.items()]
        return self._h11.send(
            h11.Response(status_code=code, headers=fields, reason=phrase(code).encode())
        )

    def _judged(self, head: h11.Request) -> HttpRequest:
        """The request without its body, if it may come in.

        Who asks comes first, and a stranger learns nothing else. That also keeps out a browser that
        a page sends here by a name of its own for 127.0.0.1, so the Host is not looked at.
        """
        if head.http_version not in (b"1.1", b"1.0"):
            raise RequestRefused(505, f"HTTP/{head.http_version.decode()} is not spoken here")
        most = self._limits.head_bytes_max
        if self._size > most and self._size - self.ahead > most:
            raise RequestRefused(431, f"the head is longer than {most} bytes")
        headers: dict[str, str] = {}
        for raw, value in head.headers:
            name, text = raw.decode("ascii"), value.decode("latin-1")
            headers[name] = f"{headers[name]}, {text}" if name in headers else text
        token, target = split(head.target)
        asked = HttpRequest(head.method.decode("ascii"), "", headers=headers, path_token=token)
        if self._knows is not None and not self._knows(asked.token):
            raise RequestRefused(401, "Unauthorized")
        self.is_known = True
        self._judge_framing(head.http_version, headers)
        if asked.method not in METHODS:
            raise RequestRefused(405, f"the method {asked.method} is not known here")
        path, query = read_target(target)
        return attrs.evolve(asked, path=path, query=query)

    def _judge_framing(self, version: bytes, headers: Mapping[str, str]) -> None:
        """Of two ways to say where a body ends a reader between us might take the other."""
        if "transfer-encoding" in headers and ("content-length" in headers or version == b"1.0"):
            raise RequestRefused(400, "where its body ends can be read in two ways")
        self._weigh(int(headers.get("content-length", "0")))
        if headers.get("expect", "100-continue").lower() != "100-continue":
            raise RequestRefused(417, "nothing but 100-continue can be expected here")

    def _weigh(self, size: int) -> None:
        most = self._limits.body_bytes_max
        if size > most:
            raise RequestRefused(413, f"the body is longer than {most} bytes")

    def _weigh_framing(self) -> None:
        """Chunks of one byte, or with long extensions, are much to read and little to have."""
        most = self._limits.head_bytes_max + 2 * self._limits.body_bytes_max
        if self._size > most:
            raise RequestRefused(413, f"the body with its framing is longer than {most} bytes")

    def _whole(self) -> HttpRequest:
        assert self._head is not None
        return attrs.evolve(self._head, body=bytes(self._body)) if self._body else self._head

    def _unreadable(self, error: h11.RemoteProtocolError) -> RequestRefused:
        """What h11 could not read, with the code that says what is wrong."""
        if self._head is not None:
            return RequestRefused(400, f"the body cannot be read: {error}")
        begins = self._h11.trailing_data[0][: self._limits.head_bytes_max]
        if begins.startswith(b"\x16\x03"):
            return RequestRefused(400, "this is TLS, and plain HTTP is spoken here; use http://")
        if error.error_status_hint == 431:
            most = self._limits.head_bytes_max
            what, code = ("head", 431) if b"\n" in begins else ("request line", 414)
            return RequestRefused(code, f"the {what} is longer than {most} bytes")
        return RequestRefused(error.error_status_hint, f"the request cannot be read: {error}")
