"""Record: which levels a student has passed, how often each was checked, and the hints it took.

It is one small file of JSON. It is written whole or not at all, and one that cannot be read is left
as it is, so that no work of a student is lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import attrs

from testbed.code.files import read_bytes
from testbed.errors import ScenarioError
from testbed.objects.codec import decode, encode_line

VARIABLE = "TESTBED_LEARN"
"""The variable of the environment that names the file."""
USUAL = ".local/state/testbed/learn.json"
"""Where it lies in a home folder unless something else is said."""
FORMAT = 1
COUNTS = ("checks", "checks_to_pass", "hints")


@attrs.frozen
class LevelRecord:
    """What a student has done at one level."""

    passed: bool = False
    checks: int = 0
    """How often an answer was checked."""
    checks_to_pass: int = 0
    """How many of these it took to pass; 0 as long as it has not."""
    hints: int = 0
    """How many hints were shown."""


@attrs.frozen
class StudentRecord:
    """What a student has done, level by level."""

    path: Path
    levels: Mapping[str, LevelRecord] = attrs.field(factory=dict)

    def of(self, number: int) -> LevelRecord:
        """The record of that level."""
        return self.levels.get(str(number), LevelRecord())

    def having(self, number: int, **changes: Any) -> StudentRecord:
        """A copy in which the record of that level has these changes."""
        changed = attrs.evolve(self.of(number), **changes)
        return attrs.evolve(self, levels={**self.levels, str(number): changed})

    def checked(self, number: int, *, passed: bool) -> StudentRecord:
        """A copy in which one more answer to that level was checked. What is passed stays so."""
        before = self.of(number)
        checks = before.checks + 1
        to_pass = before.checks_to_pass or (checks if passed else 0)
        has_passed = before.passed or passed
        return self.having(number, checks=checks, checks_to_pass=to_pass, passed=has_passed)

    def write(self) -> None:
        """Write the file whole, or not at all."""
        plain = {name: attrs.asdict(self.levels[name]) for name in sorted(self.levels, key=int)}
        line = encode_line({"testbed_learn": FORMAT, "levels": plain})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("wb", dir=self.path.parent, delete=False) as file:
                file.write(line)
            Path(file.name).replace(self.path)
        except OSError as error:
            raise ScenarioError(
                f"{self.path}: what you have passed cannot be written: {error.strerror}.\n"
                "Next: name a file that may be written, as in --progress learn.json"
            ) from error


def path_of(given: str | None) -> Path:
    """The file that was named, or that the environment names, or the usual one."""
    named = given or os.environ.get(VARIABLE)
    try:
        return Path(named) if named else Path.home() / USUAL
    except RuntimeError as error:
        raise ScenarioError(
            "this user has no home folder, in which what you have passed could be recorded.\n"
            "Next: name a file, as in --progress learn.json"
        ) from error


def read_record(path: Path) -> StudentRecord:
    """The record in that file; an empty one if there is no such file. A damaged one is refused."""
    try:
        text = read_bytes(path)
    except FileNotFoundError:
        return StudentRecord(path)
    except OSError as error:
        raise ScenarioError(
            f"{path}: what you have passed cannot be read: {error.strerror}.\n"
            "Next: name another file, as in --progress learn.json"
        ) from error
    try:
        return StudentRecord(path, _levels_in(decode(text)))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ScenarioError(
            f"{path}: this is no record of `testbed learn`, or it is damaged "
            f"({type(error).__name__}).\nIt was left as it is.\n"
            f"Next: move it away, as in `mv {path} {path}.old`, and what you pass is recorded again"
        ) from error


def _levels_in(data: Any) -> dict[str, LevelRecord]:
    if data["testbed_learn"] != FORMAT:
        raise ValueError(data["testbed_learn"])
    found = {}
    for name, plain in data["levels"].items():
        record = LevelRecord(**plain)
        *numbers, passed = (plain.get(each) for each in (*COUNTS, "passed"))
        if not isinstance(passed, bool) or not all(map(_is_count, numbers)):
            raise ValueError(plain)
        found[str(int(name))] = record
    return found


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0
