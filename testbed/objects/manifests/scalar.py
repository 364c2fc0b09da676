"""Scalar: the value of one word of YAML, as Kubernetes reads it; and a tree as lines of YAML.

Kubernetes reads YAML 1.1 as its own parser does (go-yaml v2, then JSON): `no` is false, `017` is
fifteen, `1e3` a thousand; but `1:30` and `2025-01-01` are texts. Anything in quotes is a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import inf
from typing import Any

Scalar = str | int | float | bool | None

TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
NOTHING = frozenset(("", "~", "null", "Null", "NULL"))
NEVER = frozenset(f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF"))
"""The infinite numbers of YAML, which JSON does not have."""
NO_NUMBERS = NEVER | {".nan", ".NaN", ".NAN"}
_FIRST = frozenset("+-.0123456789yYnNtTfFoO~")
_BASES = {"0x": 16, "0X": 16, "0o": 8, "0O": 8, "0b": 2, "0B": 2}
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SIGNED_MIN, _UNSIGNED_MAX = -(2**63), 2**64 - 1
_WHOLE_MAX = 10.0**21
"""From here on JSON writes a whole number with an exponent, and no integer field accepts that."""
_SAFE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+@=-]*(?:[: ][A-Za-z0-9_./+@=-]+)*")
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def resolve(word: str) -> Scalar:
    """The value of a word without quotes; ValueError for a number that JSON does not have."""
    if not word or word[0] not in _FIRST:
        return word or None
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    if word in NOTHING:
        return None
    if word in NO_NUMBERS:
        raise ValueError("a number that JSON does not have")
    return _number(word) if word[0] in "+-.0123456789" else word


def _number(word: str) -> Scalar:
    plain = word.replace("_", "")
    if _INTEGER.fullmatch(plain) and len(plain) <= 70:
        number = _integer(plain)
        if _SIGNED_MIN <= number <= _UNSIGNED_MAX:
            return number
    if not _FLOAT.fullmatch(plain):
        return word
    value = float(plain)
    if abs(value) == inf:
        return word
    return int(value) if value.is_integer() and abs(value) < _WHOLE_MAX else value


def _integer(plain: str) -> int:
    sign, digits = (-1 if plain[0] == "-" else 1), plain.lstrip("+-")
    base = _BASES.get(digits[:2])
    if base is not None:
        return sign * int(digits[2:], base)
    return sign * int(digits, 8 if digits[0] == "0" else 10)


def name_of(word: str) -> str:
    """The text that a name without quotes stands for: "1" for `1`, "true" for `on`. ValueError for
    null and for a number that is not whole."""
    value = resolve(word)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, float):
        raise ValueError("a name")
    return str(value)


def written(value: Scalar) -> str:
    """A value as one word of YAML. A text goes without quotes only if every version of YAML reads
    it as that text."""
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if _SAFE.fullmatch(value) and resolve(value) is value:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def lines(tree: Any) -> Iterator[str]:
    """A tree as lines of YAML with sorted names: equal trees give equal lines."""
    if isinstance(tree, dict) and tree:
        for name in sorted(tree):
            first, *rest = lines(tree[name])
            if not isinstance(tree[name], dict | list) or not tree[name]:
                yield f"{written(name)}: {first}"
                continue
            indent = "  " if isinstance(tree[name], dict) else ""
            yield f"{written(name)}:"
            yield from (f"{indent}{line}" for line in (first, *rest))
    elif isinstance(tree, list) and tree:
        for each in tree:
            first, *rest = lines(each)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield written(tree) if not isinstance(tree, dict | list) else "{}" if tree == {} else "[]"
