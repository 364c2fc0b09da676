"""Reading: the lines of a file of recorded cases; each error names its file and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from tests.conformance.shape import Line, Shape
from tests.conformance.shapes import SHAPES, shape_of

PATTERN = "*.jsonl.gz"


class BadCorpus(Exception):
    """A file or line that cannot be read; the text says where, what was expected, and what to
    do."""


@attrs.frozen
class Recorded:
    """One line of a file, and its kind."""

    where: str
    """Its file and line."""
    line: Line
    shape: Shape

    @property
    def name(self) -> str:
        """Its name, for people."""
        return f"{self.where} ({self.line.get('id') or self.line.get('case', {}).get('id')})"

    def differences(self) -> list[str]:
        """How ours differs; BadCorpus if the line lacks something."""
        try:
            return self.shape.differences(self.line)
        except (KeyError, TypeError) as error:
            said = f"{self.where}: expected a whole case ({self.shape.name}), found {error!r}.\n"
            raise BadCorpus(f"{said}Next: compare it with a line that can be read") from error


def files_in(folder: Path) -> list[Path]:
    """The files of a folder that may hold cases."""
    if not folder.is_dir():
        raise BadCorpus(f"{folder}: there is no such folder.\nNext: pytest --corpus FOLDER")
    found = sorted(folder.glob(PATTERN))
    if not found:
        raise BadCorpus(f"{folder}: expected files {PATTERN}, found none.\nNext: ls {folder}")
    return found


def cases_in(path: Path) -> Iterator[Recorded]:
    """Every case of a file."""
    for number, text in enumerate(_lines(path), 1):
        if text.strip():
            where = f"{path.name}:{number}"
            line = _tree(text, where, path)
            shape = shape_of(line)
            if shape is None:
                known = ", ".join(each.name for each in SHAPES)
                raise _bad(where, f"a case of a kind that is known ({known})", path, text)
            yield Recorded(where, line, shape)


def spread_over(cases: Iterable[Recorded]) -> list[Recorded]:
    """The cases of the usual run: of a kind that takes long, one of several, all over the file."""
    counts: dict[str, int] = {}
    found = []
    for case in cases:
        nth = counts[case.shape.name] = counts.get(case.shape.name, -1) + 1
        if nth % case.shape.spread == 0:
            found.append(case)
    return found


def _lines(path: Path) -> list[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, EOFError, zlib.error) as error:
        text = f"{path.name}: expected a file that gzip has packed, found otherwise: {error}.\n"
        raise BadCorpus(f"{text}Next: gzip -t {path}") from error
    except UnicodeDecodeError as error:
        text = f"{path.name}: expected text in UTF-8, found otherwise: {error}.\n"
        raise BadCorpus(f"{text}Next: gzip -dc {path} | head") from error


def _tree(text: str, where: str, path: Path) -> Line:
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise _bad(where, f"a line of JSON ({error.msg})", path, text) from error
    if not isinstance(tree, dict):
        raise _bad(where, "an object of JSON", path, text)
    return tree


def _bad(where: str, expected: str, path: Path, text: str) -> BadCorpus:
    number = where.rpartition(":")[2]
    shown = text if len(text) <= 80 else f"{text[:79]}…"
    said = f"{where}: expected {expected}, found {shown}\n"
    return BadCorpus(f"{said}Next: gzip -dc {path} | sed -n {number}p")
