"""Limits: what the process of one answer may use, as far as the operating system can hold it to it.

They are a backstop. What ends a check in the usual way are its turns and Runs, which are the same
on each machine. Processor time is not: an answer that needs nearly all of it may pass on one
machine and fail on another.
"""

from __future__ import annotations

import os
import sys
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
RESULT_BYTES = 8 * MB
SPARE_S = 10
LIMITED = (
    "processor time", "memory", "size of files", "open files", "processes", "core dumps",
)  # fmt: skip
_NAMES = (
    "RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE",
)  # fmt: skip


@attrs.frozen(kw_only=True)
class BoothLimits:
    """What one answer may use."""

    seconds: int = 20
    """Of processor time."""
    memory_mb: int = 1024
    """Beside what the testbed itself needs."""
    turn_s: float = 2.0
    """Of real time, for one turn. No turn that ends takes a hundredth of it."""
    printed_bytes: int = PRINTED_BYTES

    wall_s: float = attrs.field()
    """How long it may take in all. It strikes only if an answer waits for something: one that works
    comes to the end of its processor time before."""

    @wall_s.default
    def _(self) -> float:
        return self.seconds * 3 + SPARE_S


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


def used_mb() -> int:
    """The most memory that this process has ever used at one time; 0 if it cannot be told."""
    if resource is None:
        return 0
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (MB if sys.platform == "darwin" else 1024)
