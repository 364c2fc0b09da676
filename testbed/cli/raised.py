"""Tells whether an exception comes from the user's code or from a bug of ours.

The testbed calls the user's code (scenarios, actors, claims, choosers), and that code calls ours.
So the traceback holds frames of both, and of libraries. Python's own and the libraries that we call
ourselves do not count. The exception is the user's if the last other frame is not ours: that code
raised it, or called a library wrongly. If the last one is ours, we treat it as our bug, even if the
user's code called us; unless it asked an object or the Store, which hold data and do no more.
Ours are the actors and scenarios that come with the testbed, too.
"""

from __future__ import annotations

import traceback

import attrs

from testbed.code.whose import INSTALLED, OWN, PYTHON, is_of_data, readers_frame, whose

MISGIVEN = (TypeError, AttributeError, LookupError, ValueError)
"""What Python raises if something of another kind is given than is expected."""


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
    counted = [frame for frame in frames if whose(frame.filename) != PYTHON]
    # Objects are plain data, and the Store gives them out: what these raise comes of what they were
    # given, and whoever gave it stands above.
    while counted and isinstance(error, MISGIVEN) and is_of_data(counted[-1].filename):
        counted.pop()
    if not counted or whose(counted[-1].filename) not in (OWN, INSTALLED):
        return None
    theirs = [frame for frame in counted if whose(frame.filename) in (OWN, INSTALLED)]
    last = readers_frame(theirs) or theirs[-1]
    return Raised(
        f"{last.filename}, line {last.lineno}: {last.name} raised {type(error).__name__}: {error}",
        "".join(traceback.format_list(theirs)),
    )
