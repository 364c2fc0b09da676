"""Whose: whose code a file is, so that an error names the line that its reader can mend.

A traceback holds frames of the testbed, of the actors that come with it, of Python, of what is
installed beside it, and of the user. Where a file lies tells them apart. Three things are easy to
get wrong: the testbed itself may be installed among the libraries; the user's code may lie under
`sys.prefix`, as in a container; and the user's own package may be installed, too.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import FrameSummary, extract_tb
from types import FrameType

from testbed.errors import HarnessError

TESTBED, SHIPPED, INSTALLED, PYTHON, OWN = "testbed", "shipped", "installed", "python", "own"
"""The testbed; the actors and scenarios that come with it; a library; Python's own; the user's."""
USED = frozenset(
    {
        "attr", "attrs", "trio", "outcome", "sniffio", "sortedcontainers", "click", "yaml",
        "hypothesis", "pytest", "_pytest", "pluggy", "asyncio", "anyio",
    }
)  # fmt: skip
"""The libraries that the testbed calls itself, or that the user's code must not wait with. What
they raise was caused by the code that called them."""

SWITCHED = ("in_force.py", "switches.py")
"""What these refuse was said on a command line or in a race file, and not where it shows up."""

_HERE = Path(__file__).resolve().parent.parent
_SITES = ("site-packages", "dist-packages")
_PYTHON = [Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib")]


@cache
def whose(filename: str) -> str:
    """Whose code the file is: one of the five above."""
    if filename.startswith(("<frozen ", "<attrs ", "<__array")):
        return PYTHON
    if filename.startswith("<"):
        return OWN
    path = Path(filename).resolve()
    if path.is_relative_to(_HERE):
        return TESTBED
    if any(path.is_relative_to(_HERE.parent / room) for room in ("actors", "scenarios")):
        return SHIPPED
    library = _library(path)
    if library:
        return PYTHON if library in USED else INSTALLED
    return PYTHON if any(path.is_relative_to(folder) for folder in _PYTHON) else OWN


@cache
def is_of_data(filename: str) -> bool:
    """Whether the file is one of those that make objects of a cluster, copy them or keep them."""
    path = Path(filename).resolve()
    return any(path.is_relative_to(_HERE / room) for room in ("code", "objects", "store"))


def _library(path: Path) -> str:
    """The name of the installed library that it belongs to; empty if it belongs to none."""
    parts = path.parts
    places = [number for number, part in enumerate(parts[:-1]) if part in _SITES]
    return parts[places[-1] + 1].removesuffix(".py") if places else ""


def library_of(filename: str) -> str:
    """The name of the library that the file belongs to, Python's own ones included; or empty."""
    path = Path(filename).resolve()
    for folder in _PYTHON:
        if path.is_relative_to(folder) and not set(_SITES) & set(path.parts):
            return path.relative_to(folder).parts[0].removesuffix(".py")
    return _library(path)


def readers_frame(frames: Iterable[FrameSummary]) -> FrameSummary | None:
    """The last of these frames that a reader can mend: the user's own, or else that of an actor
    that comes with the testbed, or of a library. None if all are the testbed's and Python's."""
    kinds: dict[str, FrameSummary] = {whose(frame.filename): frame for frame in frames}
    return next((kinds[kind] for kind in (OWN, SHIPPED, INSTALLED) if kind in kinds), None)


def place_of_call() -> str:
    """The file and the line of the nearest caller's code that a reader can mend; empty if all
    callers are the testbed's and Python's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and whose(frame.f_code.co_filename) in (TESTBED, PYTHON):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}, line {frame.f_lineno}"


@contextmanager
def at_place(place: str = "") -> Iterator[None]:
    """Let an error for people that is raised here begin with that place; if none is given, with the
    last line of a reader's own code on its way."""
    try:
        yield
    except HarnessError as error:
        frames = extract_tb(error.__traceback__)
        found = readers_frame(frames) if not place else None
        if any(Path(frame.filename).name in SWITCHED for frame in frames):
            found = None
        if found is not None and whose(found.filename) != SHIPPED:
            place = f"{found.filename}, line {found.lineno}"
        if place and place.partition(",")[0] not in str(error):
            error.args = (f"{place}: {error}",)
        raise
