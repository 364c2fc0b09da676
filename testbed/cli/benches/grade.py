"""bench grade: answers marked per second, compared with processes of Python that do nothing.

Each answer is the file that a level hands out, in a process of its own with all its limits and
guards; it is refused, and its race made small and told. Processes that do nothing are started
alternately with them, one at a time. The figures are medians, by real time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from testbed.child import child_command, child_env
from testbed.teaching.ladder import levels
from testbed.teaching.marking.limits import BoothLimits
from testbed.teaching.marking.mark import REFUSED
from testbed.teaching.marking.marking import marked
from testbed.teaching.marking.submissions import Submission

ROUNDS = 3
NOTHING = "testbed.version"
"""A module that does nothing, and imports nothing beside its package."""
STARTS = 10
"""Processes that do nothing, in each round."""
CLASS = 60 * 10
"""The answers of sixty students to ten levels."""
PROCESSORS = 2


def measure(
    rounds: int = ROUNDS,
    starts: int = STARTS,
    levels_max: int = 10,
    *,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Marks and bare starts per second, and for how many of these one mark stands."""
    answers = [
        Submission("bench", level.number, level.starter().encode())
        for level in levels()[:levels_max]
    ]
    rates, bare = [], []
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        bare.append(_starts_per_s(starts))
        rates.append(_marks_per_s(answers))
    per_s = median(rates)
    return {
        "answers": len(answers),
        "marks_per_s": round(per_s, 2),
        "bare_starts_per_s": round(median(bare), 2),
        "ratio": round(median(r / b for r, b in zip(rates, bare, strict=True)), 4),
        "class_of_60_minutes_on_2": round(CLASS / per_s / PROCESSORS / 60, 2),
    }


def _marks_per_s(answers: list[Submission]) -> float:
    began = perf_counter()
    marks = [*marked(answers, seed=0, limits=BoothLimits())]
    seconds = perf_counter() - began
    assert all(mark.mark == REFUSED for mark in marks), [mark.as_dict() for mark in marks]
    return len(marks) / seconds


def _starts_per_s(starts: int) -> float:
    began = perf_counter()
    for _ in range(starts):
        subprocess.run(child_command(NOTHING), env=child_env(), check=True)
    return starts / (perf_counter() - began)
