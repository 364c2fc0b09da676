"""Knocking: the program that `bench door` attaches. It asks as fast as it is answered.

    python -m testbed.cli.benches.knocking REQUESTS LISTS LINES WATCHES

It gets, patches and lists over one connection that is kept, then opens the watches and changes a
pod for each line that all of them are to tell. What it writes are the rates, as JSON.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from urllib.parse import urlsplit

PODS = "/api/v1/namespaces/ns0/pods"
MANY = 500
"""How many pods there are."""
PATCH = b'{"metadata":{"labels":{"n":"%d"}}}'
STARTED_S = 0.1
"""Longer than it is waited for, so that the measured time is not that of its start."""


class Knocker:
    """A connection to the testbed, and what was read from it."""

    def __init__(self) -> None:
        config = json.loads(Path(os.environ["KUBECONFIG"]).read_text(encoding="utf-8"))
        server = urlsplit(config["clusters"][0]["cluster"]["server"])
        self._before = server.path
        self.socket = socket.create_connection((server.hostname, server.port or 80))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = 0
        """How many lines of a watch it was told."""

    def send(self, method: str, path: str, body: bytes = b"") -> None:
        """Send a request."""
        head = (
            f"{method} {self._before}{path} HTTP/1.1\r\nHost: testbed\r\n"
            "Content-Type: application/merge-patch+json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.socket.sendall(head.encode() + body)

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request, and read its answer to the end."""
        self.send(method, path, body)
        head, _, rest = self._until(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        parts, size = [rest], size - len(rest)
        while size > 0:
            parts.append(data := self.socket.recv(1 << 20))
            size -= len(data)
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"{method} {path}: {head.decode()}")
        return b"".join(parts)

    def watch(self, path: str) -> None:
        """Open a watch."""
        self.send("GET", path)
        self._until(b"\r\n\r\n")

    def hear(self) -> None:
        """Take what a watch has told."""
        self.lines += self.socket.recv(1 << 20).count(b"}\n\r\n")

    def _until(self, end: bytes) -> tuple[bytes, bytes, bytes]:
        data = b""
        while end not in data:
            data += self.socket.recv(1 << 16)
        return data.partition(end)


def _pod(number: int) -> str:
    return f"{PODS}/p{number % MANY}"


def rate(times: int, ask: Callable[[int], object]) -> float:
    """How often in a second that is answered."""
    began = perf_counter()
    for number in range(times):
        ask(number)
    return times / (perf_counter() - began)


def told_rate(knocker: Knocker, lines: int, watches: int) -> float:
    """How many lines a second all watches together are told."""
    revision = json.loads(knocker.ask("GET", f"{PODS}/p0"))["metadata"]["resourceVersion"]
    with selectors.DefaultSelector() as selector:
        watchers = [Knocker() for _ in range(watches)]
        for watcher in watchers:
            watcher.watch(f"/api/v1/pods?watch=1&resourceVersion={revision}")
            selector.register(watcher.socket, selectors.EVENT_READ, watcher)
        began = perf_counter()
        for number in range(lines):
            knocker.ask("PATCH", _pod(number), PATCH % (number + 1))
        while sum(watcher.lines for watcher in watchers) < lines * watches:
            for key, _ in selector.select():
                key.data.hear()
        return lines * watches / (perf_counter() - began)


def main(requests: int, lists: int, lines: int, watches: int) -> None:
    """Ask all of it, and write the rates."""
    knocker = Knocker()
    knocker.ask("GET", f"{PODS}/p0")
    sleep(STARTED_S)
    rates = {
        "get": rate(requests, lambda number: knocker.ask("GET", _pod(number))),
        "patch": rate(requests, lambda number: knocker.ask("PATCH", _pod(number), PATCH % number)),
        "list": rate(lists, lambda _: knocker.ask("GET", PODS)),
        "line": told_rate(knocker, lines, watches),
    }
    sys.stdout.write(json.dumps(rates) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
