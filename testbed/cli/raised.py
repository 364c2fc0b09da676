"""Tells whether an exception comes from the user's code or from a bug of ours.

The testbed calls the user's code (scenarios, actors, claims, choosers), and that code calls ours.
So the traceback holds frames of both, and of libraries, which do not count. The exception is the
user's if the last other frame is the user's: that code raised it, or called a library wrongly. If
the last one is ours, we treat it as our bug, even if the user's code called us.
"""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import attrs

import testbed

OURS = str(Path(testbed.__file__).parent)
LIBRARIES = sorted(set(sysconfig.get_paths().values()))


@attrs.frozen
class Raised:
    """An exception that the user's own code raised."""

    said: str
    """The file, line and function that raised, and the exception."""
    lines: str
    """The traceback, with only the user's lines."""


def raised_by_theirs(error: BaseException) -> Raised | None:
    """The exception, if the user's code raised it; None if it is a bug of ours."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not _is_within(frame, OURS, *LIBRARIES)]
    last = [frame for frame in frames if not _is_within(frame, *LIBRARIES)][-1:]
    if not theirs or last != theirs[-1:]:
        return None
    where = f"{theirs[-1].filename}, line {theirs[-1].lineno}"
    return Raised(
        f"{where}: {theirs[-1].name} raised {type(error).__name__}: {error}",
        "".join(traceback.format_list(theirs)),
    )


def _is_within(frame: traceback.FrameSummary, *folders: str) -> bool:
    return any(Path(frame.filename).is_relative_to(folder) for folder in folders)
