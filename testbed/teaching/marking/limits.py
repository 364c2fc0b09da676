"""Limits: what the process of one answer may use, as far as the operating system can hold it to it.

They are a backstop. What ends a check in the usual way are its turns and Runs, which are the same
on each machine. No limit goes by the clock on the wall: time is that of the processor, which the
process itself has used, and there is room of ten or more from what right answers need to each
limit. So how busy the machine is decides no mark. What uses no time at all and does not end is no
mark either, but "not decided".
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import attrs

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows has no such thing
    resource = None

MB = 1024 * 1024
FILE_BYTES = MB
FILES = 64
PRINTED_BYTES = MB
ANSWER_BYTES = 64 * 1024
"""What a file may have to be read as an answer at all."""
RESULT_BYTES = 256 * MB
"""What a part of a check may tell: what it has played, to be played again."""
LIMITED = (
    "processor time", "memory", "size of files", "open files", "processes", "core dumps",
)  # fmt: skip
_NAMES = (
    "RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE",
)  # fmt: skip


@attrs.frozen(kw_only=True)
class BoothLimits:
    """What one answer may use."""

    seconds: int = 60
    """Of processor time, for one part of its check: a trial, or one life alone in a trial."""
    memory_mb: int = 512
    """Beside what the testbed itself needs."""
    turn_s: float = 10.0
    """Of processor time, for one turn. No turn that ends takes a hundredth of it."""
    printed_bytes: int = PRINTED_BYTES
    idle_s: float = 20.0
    """Of real time: how long all its processes may sleep, without one that is ready to run."""
    wall_s: float = attrs.field()
    """Of real time, in all, where it cannot be told whether it sleeps."""

    @wall_s.default
    def _(self) -> float:
        return self.seconds * 60.0


def impose(limits: BoothLimits) -> list[str]:
    """Hold this process to the limits; return those that are in force, in words."""
    if resource is None:
        return []
    kept, memory = [], _mapped_bytes() + limits.memory_mb * MB
    # At the soft limit of time comes a signal that tells why it ended; at the hard one, a kill.
    most = ((limits.seconds, limits.seconds + 1), memory, FILE_BYTES, FILES, 0, 0)
    for words, name, asked in zip(LIMITED, _NAMES, most, strict=True):
        soft_and_hard = asked if isinstance(asked, tuple) else (asked, asked)
        try:
            resource.setrlimit(getattr(resource, name), soft_and_hard)
        except (AttributeError, ValueError, OSError):
            continue  # this system has no such limit, or not one so low
        kept.append(words)
    return kept


def _mapped_bytes() -> int:
    """The memory that this process has asked for up to now, used or not; 0 if it cannot be told."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def peak_of_memory() -> Callable[[], int]:
    """Open what tells how much memory this process has asked for at most, in MB, and return a
    function that reads it again, also after the kernel opens no file any more."""
    try:
        status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return resident_mb

    def peak_mb() -> int:
        found = re.search(rb"VmPeak:\s+(\d+) kB", os.pread(status, 1 << 14, 0))
        return int(found[1]) // 1024 if found else resident_mb()

    return peak_mb


def resident_mb() -> int:
    """The most memory that this process has used at one time; 0 if it cannot be told."""
    if resource is None:
        return 0
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (MB if sys.platform == "darwin" else 1024)
