"""Printable: text as a terminal may show it.

A name in a file, and a line that a program has said, may hold anything: a sequence that moves the
cursor, wipes the screen or turns the direction of writing. A terminal would obey it. So what is
printed goes through here, and each such character stands there as its number: `\\u001b`.
"""

from __future__ import annotations

import re

_ODD = re.compile(r"[^ -~]")
"""Whatever is not plain ASCII has to be looked at."""


def printable(text: str) -> str:
    """The text, its lines as they are, with each other character that does not print as a number.

    What was JSON before is the same JSON after: these are its own escapes.
    """
    if text.isascii() and text.isprintable():
        return text
    return _ODD.sub(lambda found: found[0] if found[0] in "\n\t" else _shown(found[0]), text)


def in_line(text: str) -> str:
    """The text as a part of one line: the ends of its lines stand there as numbers, too."""
    return text if text.isprintable() else _ODD.sub(lambda found: _shown(found[0]), text)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
