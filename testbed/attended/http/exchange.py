"""Exchange: one HTTP request of a program, and the way to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import attrs


@attrs.frozen
class HttpRequest:
    """One whole HTTP request, as a program sent it."""

    method: str
    """In capitals: GET, POST, PUT, PATCH, DELETE, …"""
    path: str
    """Percent-decoded, without the query: `/api/v1/namespaces/default/pods/p`."""
    query: tuple[tuple[str, str], ...] = ()
    """Percent-decoded, in the order in which it was sent."""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    """By name in lower case; of several with one name, the values joined by `, `."""
    body: bytes = b""
    path_token: str = ""
    """The token that stood before the path; empty if there was none."""

    def asks(self, name: str) -> str:
        """The first value of that name in its query; empty if there is none."""
        return next((value for each, value in self.query if each == name), "")

    @property
    def token(self) -> str:
        """The token that says which program asks: the one before the path, or a bearer token; empty
        if it sent none."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return self.path_token or (token.strip() if scheme.lower() == "bearer" else "")


class Exchange(Protocol):
    """One request that has arrived whole, and the way to answer it.

    It is answered once: by `answer`, by `begin`, any number of `send` and `end`, or by `cut`. None
    of these waits, and none raises because the program has gone. Each is one write to the socket,
    within the call. Of the headers those that frame the answer (Content-Length, Transfer-Encoding,
    Connection) are set here.
    """

    asked: HttpRequest

    @property
    def is_gone(self) -> bool:
        """Whether its connection is closed, so that no answer can reach the program any more.

        A watch that has begun is gone as soon as the program closes its side. A program that has
        asked, and then says that it sends no more, may still be there, and is answered.
        """

    def answer(self, code: int, headers: Mapping[str, str], body: bytes) -> None:
        """Answer at once and whole: head and body leave in one write."""

    def begin(self, code: int, headers: Mapping[str, str]) -> None:
        """Begin an answer of lines: the head leaves now, and each `send` is a chunk."""

    def send(self, line: bytes) -> None:
        """Send one chunk. Who does not read its lines, and leaves too many, is cut."""

    def end(self) -> None:
        """Send the last chunk; the connection may be used again."""

    def cut(self) -> None:
        """Close the connection without an answer, or in the middle of one."""
