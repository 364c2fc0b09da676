"""Failure: the text of a failing test: what was breached, who did what, the command to paste.

1. The Verdict: what was breached, or what a race file expected and what came instead.
2. The story of the Run.
3. The race file, which is left in `.testbed/`, unless it was the race file that failed.
4. The command that plays the same Run again.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from tempfile import NamedTemporaryFile

from testbed.races.expecting import Side
from testbed.races.race import Race
from testbed.races.trust import line_for, trust_in
from testbed.story.explain import story
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict

FOLDER = ".testbed"
"""Where failing tests leave race files. Git ignores it: move a file elsewhere to keep it."""


def failure_text(verdict: Verdict, trace: Trace, race: Race, name: str) -> str:
    """The text for a Run that failed. Its race is left in `.testbed/` under that name; with an
    empty name it is only shown."""
    path = leave(race, name) if name else None
    where = f", in {path}" if path else ""
    lines = "".join(f"  {line}\n" for line in race.text().splitlines())
    drawn, again = story(trace, verdict, race.breaks), _again(race, path)
    return f"{verdict}\n\n{drawn}\n\nThe race{where}:\n\n{lines}\nAgain: {again}"


def side_text(side: Side, again: str) -> str:
    """The text for a race file that did not do what it expects; `again` is the command to paste."""
    gone = "".join(f"{line}\n" for line in side.gone)
    claim = side.expected.violates if side.expected is not None else ""
    drawn = story(side.played.trace, side.played.verdict, claim)
    return f"{_instead(side)}\n{gone}\n{drawn}\n\nAgain: {again}"


def _instead(side: Side) -> str:
    """What the race file expects, and what came instead."""
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
    """The command that plays it again: `testbed replay`, or pytest if that cannot find the
    scenario."""
    # A scenario that a test module defines has a name like `test_x:scenario`, which only pytest can
    # import.
    test = this_test()
    if path is None or (test and ":" in race.scenario):
        return pytest_line(test)
    return line_for("replay", str(path), trust_in(race.scenario))


def this_test() -> str:
    """The test that pytest runs now, as its command line names it; empty if it runs none."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def pytest_line(test: str) -> str:
    """The command that runs that test again; without a test, all."""
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
    """Write the file whole, or not at all. If two processes write it at once, the last one wins."""
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)
