"""A number and its noun agree."""

from __future__ import annotations

import re
from pathlib import Path

from testbed.words import counted
from tests.each_row import each_row

PLURALS = re.compile(r"\{[^{}]*\}\*? (runs|deviations|faults|turns|places|classes|ways)\b")
"""A number that is written before a noun which is plural whatever the number is."""


@each_row(("number", "said"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (8000, "8,000 runs")])
def test_one_is_no_plural(number: int, said: str) -> None:
    """And none is; large numbers are told in groups."""
    assert counted(number, "run") == said


def test_a_plural_may_be_said() -> None:
    """Where an `s` does not make it."""
    assert [counted(n, "class", "es") for n in (1, 2)] == ["1 class", "2 classes"]


def test_no_text_counts_by_itself() -> None:
    """Each count that is told goes through `counted`."""
    root = Path(__file__).parent.parent.parent / "testbed"
    alone = {
        f"{file.relative_to(root)}: {found[0]}"
        for file in sorted(root.rglob("*.py"))
        if not {"checks", "benches"} & set(file.parts)
        for found in PLURALS.finditer(file.read_text(encoding="utf-8"))
    }
    assert alone == LIMITS


LIMITS = {
    "races/window.py: {RUNS_MAX} runs",
    "cli/commands/demo.py: {GUARDED} runs",
    "world/ending.py: {budget.turns_max:,} turns",
    "world/ending.py: {self._budget.instant_turns_max:,} turns",
}
"""Limits that were reached; they are above one unless a user sets one."""
