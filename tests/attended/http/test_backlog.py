"""Backlog: whatever waits leaves in order, however little the socket takes at once."""

from __future__ import annotations

import socket
import tracemalloc

from testbed.attended.http.backlog import PARTS_MAX, Backlog


def test_all_leaves_in_order_in_whatever_pieces() -> None:
    """Of more parts than are sent at once, empty ones and long ones among them."""
    parts = [b"%d;" % n * (n % 7) for n in range(3 * PARTS_MAX)] + [b"x" * 3_000_000]
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        backlog, heard = Backlog(), bytearray()
        backlog.add(parts)
        assert len(backlog) == sum(map(len, parts))
        while backlog:
            before = len(backlog)
            assert backlog.send(here) == before - len(backlog)
            heard += there.recv(1 << 20)
        while len(heard) < sum(map(len, parts)):
            heard += there.recv(1 << 20)
    assert bytes(heard) == b"".join(parts)


def test_a_line_that_waits_for_many_is_kept_once() -> None:
    """So who does not read costs little more than who does."""
    line = b"x" * 1_000_000
    backlogs = [Backlog() for _ in range(100)]
    tracemalloc.start()
    for backlog in backlogs:
        backlog.add([b"f4240\r\n", line, b"\r\n"])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < len(line)
    assert sum(map(len, backlogs)) > 100 * len(line)
