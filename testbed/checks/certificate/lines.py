"""Lines: reads the file of a certificate, and refuses whatever is no line of one.

Each line is a JSON object that ends in a checksum over itself and all lines before it. That is
against accidents only: an editor can write new sums as well. So nothing of its content is
believed before it has the shape that is stated here.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMAT = "testbed-certificate/3"
OLDER = {
    "testbed-certificate/1": "does not bind its verdict",
    "testbed-certificate/2": "does not say in how many orders its classes were played",
}
"""Formats of before, and why a file of theirs proves nothing now."""
LINE_BYTES_MAX = 64 * 1024 * 1024
WHOLE_MAX = 2**53
SHOWN_MAX = 60
"""How much of a value that has the wrong shape is shown."""


class CertificateRefused(Exception):
    """The certificate proves nothing; the text says where and why."""


class Unreadable(CertificateRefused):
    """The file is no certificate, or is damaged."""


# A shape is a type, a set of types, a list of one shape (any number of it), a tuple of shapes
# (exactly these), or an object: with these keys, or with any text as key.
TEXTS = {str: {str, int, bool}}
SHAPES: dict[str, Any] = {
    "format": {
        "format": str,
        "testbed": str,
        "scenario": str,
        "switches": TEXTS,
        "in_force": TEXTS,
        "added": [str],
        "allows_none": bool,
        "allowed": [(str, int)],
        "budget": {str: {int, type(None)}},
        "claims": [(str, str)],
        "sources": {str: str},
        "faults_max": int,
        "tested": {"orders": int, "turns": int, "seed": str},
        "verdict": str,
        "classes": int,
    },
    "is": {"option": int, "is": (str, str, str, str, str, int, str)},
    "step": {
        "step": int,
        "option": int,
        "picks": [(str, str, int, int)],
        "at": int,
        "reads": [str],
        "writes": [str],
        "late": ([str], [str]),
    },
    "offer": {"offer": int, "ready": [int], "faults": [int], "due": int},
    "class": {
        "class": int,
        "verdict": str,
        "end": str,
        "broken": [(str, str)],
        "run": [(int, int, [int])],
        "offers": [int],
    },
}
"""What each kind of line says, by the key that only this kind has."""


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has that shape. A whole number is one that all programs read alike."""
    match shape:
        case type():
            is_whole = isinstance(value, int) and 0 <= value < WHOLE_MAX
            return type(value) is shape and (shape is not int or is_whole)
        case set():
            return any(fits(value, one) for one in shape)
        case list():
            return type(value) is list and all(fits(each, shape[0]) for each in value)
        case tuple():
            return type(value) is list and len(value) == len(shape) and all(map(fits, value, shape))
    if type(value) is not dict:
        return False
    if str in shape:
        return all(fits(each, shape[str]) for each in value.values())
    return value.keys() == shape.keys() and all(fits(value[key], shape[key]) for key in shape)


def read(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of the file: its kind, and what it says. The header is the first, and only it."""
    number = 0
    for number, line in enumerate(_summed(path), 1):
        where = f"line {number}"
        if number == 1 and line.get("format") != FORMAT:
            raise Unreadable(_other_format(line.get("format")))
        kind = next((key for key in SHAPES if key in line), "")
        if not kind or (kind == "format") != (number == 1):
            raise Unreadable(f"{where}: no such line may stand there: {_shown(line)}")
        for key, shape in SHAPES[kind].items():
            if key not in line or not fits(line[key], shape):
                raise Unreadable(f"{where}: {key!r} is {_shown(line.get(key))}, which it cannot be")
        if line.keys() != SHAPES[kind].keys():
            raise Unreadable(f"{where}: it says more than such a line says")
        yield kind, line
    if not number:
        raise Unreadable(f"the file is empty: expected a header with format {FORMAT!r}")


def _other_format(said: Any) -> str:
    if isinstance(said, str) and (lacks := OLDER.get(said)):
        return f"line 1: it is of {said!r}, which {lacks}; expected {FORMAT!r}"
    return f"line 1: expected a header with format {FORMAT!r}, found {_shown(said)}"


def _summed(path: str) -> Iterator[dict[str, Any]]:
    """The objects of all lines, without their sums, which are right."""
    total, number = 0, 0
    try:
        if not Path(path).is_file():
            os.stat(path)  # if there is nothing, it says so
            raise Unreadable("it cannot be read: it is no regular file")
        with Path(path).open("rb") as file:
            while line := file.readline(LINE_BYTES_MAX):
                number += 1
                body, mark, rest = line.rpartition(b',"sum":"')
                total = zlib.crc32(body + b"}", total)
                if number == 1 and not line.lstrip().startswith(b"{"):
                    raise Unreadable(_other_format(line[:SHOWN_MAX].decode("utf-8", "replace")))
                if not mark or rest != b'%08x"}\n' % total:
                    raise Unreadable(
                        f"line {number}: it was edited or cut, or one before it is missing"
                    )
                content = json.loads(body + b"}", object_pairs_hook=_object)
                if type(content) is not dict:
                    raise Unreadable(f"line {number}: expected an object")
                yield content
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"line {number}: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(content := dict(pairs)) < len(pairs):
        raise ValueError("it says one thing twice")
    return content


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:
        return "something very deep"
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"
