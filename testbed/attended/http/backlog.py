"""Backlog: what one socket has still to take.

It keeps the parts as they are and never joins them: the same line of a watch goes to all who watch,
and waits for those who do not read, so one line must not be kept as often as it is watched.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Sequence

PARTS_MAX = 512
"""How many are sent at once: a system takes no more than a thousand or so."""


class Backlog:
    """Bytes that wait until a socket takes them, in order."""

    def __init__(self) -> None:
        self._parts: deque[bytes | memoryview] = deque()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, parts: Sequence[bytes | memoryview]) -> None:
        """Let these wait, too."""
        for part in parts:
            if part:
                self._parts.append(part)
                self._size += len(part)

    def send(self, sock: socket.socket) -> int:
        """Send as much as the socket takes now, in one write; returns how many bytes it took."""
        parts = [self._parts[at] for at in range(min(len(self._parts), PARTS_MAX))]
        sent = left = sock.sendmsg(parts) if hasattr(sock, "sendmsg") else sock.send(parts[0])
        self._size -= sent
        while left:
            first = self._parts.popleft()
            if left < len(first):
                self._parts.appendleft(memoryview(first)[left:])
                break
            left -= len(first)
        return sent

    def clear(self) -> None:
        """Forget all of it."""
        self._parts.clear()
        self._size = 0
