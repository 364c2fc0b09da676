"""Recorded: a trace that was read back from its file, each line of it checked.

A file may be cut short, edited, or written by another program, which can work out the sums. So each
line is held against its sum, and then against what a testbed would write there.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any

import attrs

from testbed.code.files import read_bytes
from testbed.errors import TraceRefused
from testbed.objects import calendar
from testbed.objects.codec import decode
from testbed.turns.trace import FORMAT

FILE_BYTES_MAX = 264 * 1024 * 1024
"""More than a Run writes before it ends by its limit, with all that its last turn writes."""
COPY_AGAIN = "Next: copy the whole file again, or record the Run again."
USE_AS_IT_IS = "Next: use the file as it was recorded; to change a Run, record another."


@attrs.frozen
class Recorded:
    """A trace that was read back from a file and checked."""

    path: str
    header: dict[str, Any]
    steps: tuple[dict[str, Any], ...]
    """The lines that are Steps, not Records: turns, picks and what is no turn."""
    lines: tuple[bytes, ...]
    end: dict[str, Any]


def load(path: str) -> Recorded:
    """Read a trace and check every line of it; TraceRefused says which line is wrong, and how."""
    lines = _read(path).splitlines(keepends=True)
    header = _header(path, lines)
    contents: list[dict[str, Any]] = []
    total = 0
    for number, line in enumerate(lines, 1):
        content, total = _checked(path, number, line, total)
        contents.append(content)
    end = contents[-1]
    if "end" not in end:
        raise TraceRefused(
            f"{path}, line {len(lines)}: the trace is cut short: it must end with a line "
            f'{{"end": …}}, and the last one is {_shown(lines[-1])}.\n{COPY_AGAIN}'
        )
    steps = tuple(content for content in contents[1:-1] if "do" in content)
    return Recorded(path, header, steps, tuple(lines), end)


def _read(path: str) -> bytes:
    """All of the file; refused if it is larger than any trace."""
    try:
        raw = read_bytes(path, FILE_BYTES_MAX + 1)
    except OSError as error:
        raise TraceRefused(
            f"{path}: cannot be read: {error.strerror}.\n"
            "Next: record one with `testbed run lost_update --trace race.jsonl`."
        ) from error
    if len(raw) > FILE_BYTES_MAX:
        raise TraceRefused(
            f"{path}: too large: a trace may have {FILE_BYTES_MAX:,} bytes, this has more.\n"
            "Next: limit the Run (`world.limit(turns_max=…)`) and record it again."
        )
    return raw


def _header(path: str, lines: list[bytes]) -> dict[str, Any]:
    header: Any = None
    with suppress(ValueError, IndexError):
        header = decode(lines[0])
    if not isinstance(header, dict) or "format" not in header:
        raise TraceRefused(
            f'{path}, line 1: this is no trace: expected a JSON header with "format": '
            f'"{FORMAT}", found {_shown(lines[0]) if lines else "an empty file"}.\n'
            "Next: record one with `testbed run SCENARIO --trace FILE`."
        )
    if header["format"] != FORMAT:
        raise TraceRefused(
            f"{path}, line 1: format {header['format']!r}, this testbed reads {FORMAT!r}; "
            f"it was recorded by testbed {header.get('testbed', '?')}.\n"
            "Next: record the Run again, or replay it with the testbed that recorded it."
        )
    return header


def _checked(path: str, number: int, line: bytes, before: int) -> tuple[dict[str, Any], int]:
    body, mark, rest = line.rpartition(b',"sum":"')
    if not mark or not line.endswith(b'"}\n'):
        raise TraceRefused(
            f"{path}, line {number}: the trace is cut short or corrupt here: expected a JSON "
            f'object that ends in its "sum", found {_shown(line)}.\n{COPY_AGAIN}'
        )
    total = zlib.crc32(body + b"}", before)
    if rest != b'%08x"}\n' % total:
        raise TraceRefused(
            f"{path}, line {number}: the line was edited, or one before it is missing: its sum "
            f"is {rest[:8].decode(errors='replace')}, its content gives {total:08x}.\n"
            f"{USE_AS_IT_IS}"
        )
    try:
        content = decode(line)
    except ValueError:
        content = None
    wrong = _misshapen(content, number)
    if wrong:
        raise TraceRefused(
            f"{path}, line {number}: no testbed wrote this line: expected {wrong}, found "
            f"{_shown(line)}.\n{USE_AS_IT_IS}"
        )
    return content, total


def _misshapen(content: Any, number: int) -> str:
    """What is wrong with a line although its sum is right: what was expected, or an empty text.
    Any program can work out a sum, so the fields are checked, too."""
    if not isinstance(content, dict):
        return "a JSON object"
    if number == 1:
        switches = content.get("switches")
        if not isinstance(content.get("scenario"), str) or not isinstance(switches, dict):
            return 'a name as "scenario" and an object as "switches"'
        return _misshapen_world(content)
    if "do" not in content:
        return ""
    texts = [content.get(word, "") for word in ("verb", "key", "change", "label")]
    if not all(isinstance(text, str) for text in (content["do"], content.get("who"), *texts)):
        return 'strings as "do", "who", "verb", "key", "change" and "label"'
    numbers = [content.get(word) for word in ("choice", "of", "at")]
    more = (content.get("nth", 1), content.get("until_ms", 0))
    if not all(type(n) is int and n >= 0 for n in (*numbers, *more)):
        return 'whole numbers, none negative, as "choice", "of", "at", "nth" and "until_ms"'
    return ""


def _misshapen_world(header: dict[str, Any]) -> str:
    faults = header.get("faults", [])
    if not isinstance(header.get("in_force", {}), dict):
        return 'an object as "in_force"'
    for word in ("without", "attended", "guests"):
        names = header.get(word, [])
        if not isinstance(names, list) or any(type(name) is not str for name in names):
            return f'a list of names as "{word}"'
    if not _is_date(header.get("epoch", "")):
        return 'a date as "epoch"'
    if not isinstance(faults, list) or not all(map(_is_fault, faults)):
        return 'a list of faults as "faults", each with a "word", a "target" and whole numbers'
    return ""


def _is_date(it: Any) -> bool:
    """Whether virtual time can begin at it; nothing is the usual date."""
    if not isinstance(it, str):
        return False
    try:
        with calendar.beginning_at(it):
            return True
    except ValueError:
        return False


def _is_fault(it: Any) -> bool:
    kinds = {"word": str, "target": str}
    return isinstance(it, dict) and all(type(it.get(n)) is kinds.get(n, int) for n in it | kinds)


def _shown(line: bytes) -> str:
    text = line[:1000].decode(errors="replace").strip()
    return repr(text if len(text) <= 60 else text[:57] + "…")
