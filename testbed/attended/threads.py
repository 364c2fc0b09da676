"""Threads: whether a program is at work, told by the state of its threads, as Linux shows it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from testbed.attended.keeper import descendants

AT_REST = b"STtZXxI"
"""Sleeping, stopped, traced, a zombie, dead, idle. What runs (R), or waits for a disk (D), is at
work."""

CAN_LOOK = sys.platform == "linux" and os.path.exists("/proc/self/task")
"""Whether the states of threads can be seen here. If not, a program is taken to be at rest after a
stated time of silence."""


def is_at_work(keeper: int) -> bool:
    """Whether any thread of the program below that keeper can run now. One that waits for the
    keeper, to pass on what it writes, can, too: so the keeper is looked at as well."""
    return any(_has_work(pid) for pid in (*descendants(keeper), keeper))


def _has_work(pid: int) -> bool:
    # On loopback the reader is made runnable within the write. So there is no moment between a
    # write of ours and the time at which a thread that it wakes is seen to run.
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                descriptor = os.open(f"/proc/{pid}/task/{thread}/stat", os.O_RDONLY)
                try:
                    stat = os.read(descriptor, 512)
                finally:
                    os.close(descriptor)
                # The name stands in parentheses, and may have any character in it.
                if stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] not in AT_REST:
                    return True
    return False
