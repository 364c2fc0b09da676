"""Brackets are counted as YAML reads them, whatever stands in quotes and comments."""

from __future__ import annotations

from testbed.objects.manifests.nesting import too_deep_at
from tests.each_row import each_row


@each_row(
    ("text", "line"),
    [
        ("[[[", None), ("[[[[", 0), ("a:\n- [[{x: [", 1), ("[[[]]][[[]]]", None),
        ("- '[[[['\n- \"[[\\\"[[\"\n# [[[[\n", None), ("it's: [[\n[[", 1), ("a #[[[[", None),
        ("a#[[[[", 0),
    ],
)  # fmt: skip
def test_the_line_of_the_first_bracket_too_many(text: str, line: int | None) -> None:
    """None where no four are open at once."""
    assert too_deep_at(text, 3) == line
