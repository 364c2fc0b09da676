"""The option `--jobs N`: in how many processes a command plays its Runs. It finds the same in any.

Without it, a command uses all processors that this process may use, once it has played for longer
than it takes to share out the work; what is soon done stays in one process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from testbed.child import Jobs, can_fork

JOBS = "How many processes play; by default as many as there are processors, if it takes long."
JOBS_MAX = 256
QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how much CPU time a container gets: so many microseconds of each so many."""
ALONE_S, ALONE_UNFORKED_S = 0.5, 3.0
"""How long a command plays in one process, at least. A process that cannot be forked begins from
nothing, which takes a second."""


def takes_jobs(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take `--jobs N`; None if it is not said."""
    return click.option("--jobs", type=click.IntRange(1, JOBS_MAX), help=JOBS)(command)


def processors() -> int:
    """How many processors this process may use: those that it is bound to, and as many as the time
    is worth that its container gets."""
    if hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    try:
        quota_us, of_us = QUOTA.read_text(encoding="ascii").split()
        found = min(found, max(int(quota_us) // int(of_us), 1))
    except (OSError, ValueError):
        pass  # no such file, or no limit: `max 100000`
    return min(found, JOBS_MAX)


def jobs_of(number: int | None) -> Jobs:
    """In how many processes a command plays that was told this number, or none."""
    return Jobs(processors(), alone_s()) if number is None else Jobs(number)


def alone_s() -> float:
    """How long a command that was not told a number of processes plays in this one."""
    return ALONE_S if can_fork() else ALONE_UNFORKED_S
