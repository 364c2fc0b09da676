"""Nesting: how deep the brackets of a YAML text go, where its parser gives up before it says so.

A parser reads ahead, and each release of it has a limit of its own: one refuses a thousand
brackets before it has told of the first ten. Which limit comes first must not depend on that. Where
the parser refuses a text, its brackets are counted here, and ours is the limit that is told.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?<!\w)"(?:\\.|[^"\\])*"      # a text in quotes may hold brackets
    | (?<!\w)'(?:''|[^'])*'
    | (?:^|(?<=\s))\#[^\n]*       # and so may a comment
    | [\[{\]}]
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def too_deep_at(text: str, depth_max: int) -> int | None:
    """Return the line, counted from 0, in which brackets nest deeper than that; None if none do."""
    depth = 0
    for found in _TOKEN.finditer(text):
        depth += 1 if found[0] in "[{" else -1 if found[0] in "]}" else 0
        if depth > depth_max:
            return text.count("\n", 0, found.start())
    return None
