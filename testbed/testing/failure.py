"""Failing: how a failing test tells a Run: what was breached, who did what, the line to paste."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from tempfile import NamedTemporaryFile

from testbed.invariant import Verdict
from testbed.races.expecting import Side
from testbed.races.race import Race
from testbed.races.trust import line_for, trust_in
from testbed.story.explain import story
from testbed.turns.trace import Trace

FOLDER = ".testbed"
"""Where failing tests leave races; nothing in it is worth a commit until somebody moves it."""


def told(verdict: Verdict, trace: Trace, race: Race, name: str) -> str:
    """The Verdict, who did what, the race, and the line that plays it again. The race is left in
    `.testbed/` under that name; without one it is only shown."""
    path = leave(race, name) if name else None
    where = f", in {path}" if path else ""
    lines = "".join(f"  {line}\n" for line in race.text().splitlines())
    drawn, again = story(trace, verdict), _again(race, path)
    return f"{verdict}\n\n{drawn}\n\nThe race{where}:\n\n{lines}\nAgain: {again}"


def told_side(side: Side, again: str) -> str:
    """What was expected of a race file, what came instead, who did what, the line to paste."""
    gone = "".join(f"{line}\n" for line in side.gone)
    drawn = story(side.played.trace, side.played.verdict)
    return f"{_instead(side)}\n{gone}\n{drawn}\n\nAgain: {again}"


def _instead(side: Side) -> str:
    expected, verdict = side.expected, side.played.verdict
    assert expected is not None
    if not expected.violates:
        return f"expected to hold: {', '.join(expected.holds) or 'every claim'}.\n{verdict}"
    if side.is_met:
        return f"{expected.violates} was breached, but not by this race.\n{verdict}"
    return (
        f"expected a breach of {expected.violates}.\n{verdict}\n"
        f"If that is mended, let the file say `holds: [{expected.violates}]`."
    )


def _again(race: Race, path: Path | None) -> str:
    """A scenario of a test's own is at home in that test, and may not be found elsewhere."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if path is None or (test and ":" in race.scenario):
        return pytest_line(test)
    return line_for("replay", str(path), trust_in(race.scenario))


def pytest_line(test: str) -> str:
    """The line that runs that test again."""
    return shlex.join(["python", "-m", "pytest", *([test] if test else [])])


def leave(race: Race, name: str) -> Path:
    """Write a race file to `.testbed/` in the current folder."""
    folder = Path(FOLDER)
    folder.mkdir(exist_ok=True)
    _write(folder / ".gitignore", "*\n")
    path = folder / (re.sub(r"[^\w.=-]+", "_", name) + ".race.yaml")
    _write(path, race.text())
    return path


def _write(path: Path, text: str) -> None:
    """Whole, or not at all: of two processes that do so at one time the last one counts."""
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)
