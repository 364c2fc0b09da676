"""What real clients ask of a served cluster, as tables of docs/attach.md: of the rows that the
tests ask.

`.venv/bin/python -m tests.models.api_page` writes them, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tests.attended.kubectl_rows import GROUPS as KUBECTL
from tests.attended.python_rows import ALL as PYTHON

PAGE = Path(__file__).parent.parent.parent / "docs/attach.md"
TITLES = {"kubectl": "### kubectl\n", "python": "### The Python client\n"}
"""The headings that the tables stand below, up to the end of each."""


def kubectl_table() -> str:
    """The commands, what they say, and how they end."""
    lines = ["| `kubectl …` | says | exit code |", "|---|---|---|"]
    for row in dict.fromkeys(row for group in KUBECTL.values() for row in group):
        since = f", from 1.{row.since}" if row.since else ""
        says = _code(row.says) if row.says else "nothing"
        lines.append(f"| {_code(' '.join(row.command.split()))}{since} | {says} | {row.code} |")
    return _table(lines)


def python_table() -> str:
    """The expressions, and what they give."""
    lines = ["| expression | gives |", "|---|---|"]
    for row in (row for group in PYTHON.values() for row in group):
        gives = f"ApiException {row.gives}" if row.is_refused else _code(repr(row.gives))
        lines.append(f"| {_code(row.code)} | {gives} |")
    return _table(lines)


def _code(text: str) -> str:
    """A text as code in a cell of a table."""
    return "`" + text.replace("|", "\\|") + "`"


def _table(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def written(text: str) -> str:
    """The page with these tables in place of those that it has."""
    for name, table in (("kubectl", kubectl_table()), ("python", python_table())):
        before, title, after = text.partition(TITLES[name])
        assert title, f"docs/attach.md has no {TITLES[name].strip()!r}"
        old = re.search(r"^\|.*?(?=^[^|]|\Z)", after, re.MULTILINE | re.DOTALL)
        assert old is not None
        text = f"{before}{title}{after[: old.start()]}{table}{after[old.end() :]}"
    return text


def write() -> None:
    """Write them into the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
