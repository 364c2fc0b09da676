"""What was raised by code that is not ours, a scenario's or a claim's; or else by a bug of ours."""

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
    """An exception that nobody has foreseen, in the user's own code."""

    said: str
    """Where, by what, and what it says."""
    lines: str
    """The user's lines that led to it, as Python shows them."""


def raised_by_theirs(error: BaseException) -> Raised | None:
    """It, if the user's code has raised it; None if it is a bug of ours."""
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
