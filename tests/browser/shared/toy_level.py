"""LevelData by hand: a level of the toy map, with one of each thing a level can say."""

from __future__ import annotations

from typing import Any

QUESTION = "Two writers bump a count twice each. What may it say in the end?"
WHY = "A blind write wipes out what was written since the read."
HINTS = ["Read again.", "Send the `revision` of the read.", "Then write."]
WORDS = {
    "read": "To get the count as it is now.",
    "write": "To put a count in its place.",
    "count": "A number that writers bump.",
    "entry": "One line of it.",
    "room": "What is free on a node.",
}


def toy_level() -> dict[str, Any]:
    """All of one level."""
    return {
        "level": 7,
        "name": "toy_count",
        "title": "the lost bump",
        "concept": "What was read may be old by the time of the write.",
        "asked": "Mend `run`: each bump is counted. The entries are read by all.",
        "calls": "You need `client.get` and `client.update`.",
        "question": QUESTION,
        "choices": ["4 in any case", "2, 3 or 4", "0"],
        "answer": 2,
        "why": WHY,
        "hints": HINTS,
        "words": WORDS,
        "trials": ["two writers", "one request is lost"],
        "incident": {"said": "It is in the API conventions.", "link": "https://example.com/rv"},
        "switch": "writer.program",
        "starter": "class MyWriter(Writer):\n    pass\n",
        "file": "level_7.py",
        "break": "testbed search toy_count --until-first",
        "check": "testbed learn 7 --check level_7.py",
    }
