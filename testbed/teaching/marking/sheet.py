"""Sheet: the marks of a class as CSV, the same bytes for the same answers, safe in a spreadsheet.

A cell that begins with one of `= + - @` is a formula to a spreadsheet, and runs when the sheet is
opened. A student chooses the name of a folder and the text of an error. So such a cell gets an
apostrophe in front, which makes it text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from testbed.teaching.marking.mark import AnswerMark

COLUMNS = ("student", "level", "mark", "reason", "trial", "runs", "race")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a formula begins with, also in the wide letters of East Asia."""


def as_csv(marks: Iterable[AnswerMark]) -> str:
    """The sheet: a row for each mark, by student and level."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(COLUMNS)
    for each in sorted(marks, key=lambda mark: (mark.student, mark.level)):
        row = each.as_dict()
        write([cell(str(row[column])) for column in COLUMNS])
    return text.getvalue()


def cell(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
