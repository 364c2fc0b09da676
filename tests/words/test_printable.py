"""Printable: what a terminal would obey stands there as a number."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from testbed.code.printable import in_line, printable
from tests.each_row import each_row

TEXTS = {
    "as it is: ✗ → é 名": "as it is: ✗ → é 名",
    "a\x1b[2Jb": "a\\u001b[2Jb",
    "a\rb\x07": "a\\u000db\\u0007",
    "a\x9bb\u202ec": "a\\u009bb\\u202ec",
    "\udc80": "\\udc80",
    "\U000e0001": "\\udb40\\udc01",
}


@each_row("text", TEXTS)
def test_what_does_not_print_is_a_number(text: str) -> None:
    """And what prints is as it was, on however many lines."""
    assert printable(text) == TEXTS[text]
    assert printable(f"{text}\n\t{text}") == f"{TEXTS[text]}\n\t{TEXTS[text]}"
    assert in_line(f"{text}\n\t{text}") == f"{TEXTS[text]}\\u000a\\u0009{TEXTS[text]}"


@given(text=st.text())
def test_json_stays_the_same_json(text: str) -> None:
    """Nothing of it moves a cursor any more."""
    line = json.dumps(text, ensure_ascii=False)
    assert json.loads(printable(line)) == text
    assert in_line(text).isprintable()
