"""Forgotten: an await that an actor forgot ends the Run, with the line that forgot it.

A call such as `client.create(…)` without `await` makes a coroutine, and does nothing. Python
notices when that is thrown away, and warns on stderr, where a search of many Runs drowns it. Here
it is an error, under each driver: what the actor meant to do was not done, so the Run says nothing.
What is thrown away because its life has ended was not forgotten: a crash came before the await.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TextIO

from testbed.code.whose import PYTHON, TESTBED, whose
from testbed.errors import ScenarioError
from testbed.turns.life import CARRIERS
from testbed.turns.table import Table

NOT_ACTORS = frozenset({TESTBED, PYTHON})
"""Code of these no actor can mend."""
NEVER = "coroutine .* was never awaited"
_NAMED = re.compile(r"coroutine '(?P<name>[^']*)' was never awaited")
_CREATED = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


class Spot(tuple[CodeType, int]):
    """Where something was asked for: a code object, and the number of an instruction in it. In a
    comparison of two moments of a Run all Spots are alike, since Python may number the same place
    otherwise once its code has run often."""

    __slots__ = ()

    def __reduce_ex__(self, _: object) -> tuple[type[Spot], tuple[()]]:
        return Spot, ()


class Noticed:
    """The Run that is played now."""

    table: Table | None = None
    """None between two Runs."""


@contextmanager
def noticing() -> Iterator[Noticed]:
    """During a session: let each coroutine that is never awaited end the Run that it was made in.
    It is set up once for all Runs, since to change what Python does with warnings takes long."""
    noticed = Noticed()
    depth = sys.get_coroutine_origin_tracking_depth()
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            named = _NAMED.match(str(message))
            table = noticed.table
            if named is None or table is None or not issubclass(category, RuntimeWarning):
                before(message, category, filename, lineno, file, line)
                return
            # With tracking, the text ends with the line that made the coroutine.
            created = _CREATED.findall(str(message))
            place = created[-1] if created else (filename, lineno)
            forgot(table, named["name"], place[0], int(place[1]))

        warnings.filterwarnings("always", NEVER, RuntimeWarning)
        warnings.showwarning = show
        sys.set_coroutine_origin_tracking_depth(max(depth, 1))
        try:
            yield noticed
        finally:
            sys.set_coroutine_origin_tracking_depth(depth)


def forgot(table: Table, what: str, file: str = "", line: int = 0) -> None:
    """End the Run because of that, unless its life is over. The place is where it was made."""
    seat = table.running
    if table.is_over or (seat is not None and not seat.life.is_alive):
        return
    place = f"{file}, line {line}" if file else "somewhere"
    who = "the World" if seat is None else seat.path
    table.fail(
        ScenarioError(
            f"{place}: {who} never awaited {what}, so that was not done.\n"
            "Next: write `await` before it; what is to go on beside it is client.spawn(…)."
        )
    )


def actors_frame(frame: FrameType) -> FrameType:
    """The actor's own code that has called that one, which may be it; if there is none, that one.
    No frame is kept, so this is done while it runs."""
    outer: FrameType | None = frame
    while outer is not None and outer.f_code.co_qualname not in CARRIERS:
        if whose(outer.f_code.co_filename) not in NOT_ACTORS:
            return outer
        outer = outer.f_back
    return frame


def actors_line(code: CodeType, instruction: int) -> tuple[str, int]:
    """The file and line of that instruction; ("", 0) if it is the testbed's."""
    if whose(code.co_filename) in NOT_ACTORS:
        return "", 0
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
    return code.co_filename, next(lines, None) or code.co_firstlineno
