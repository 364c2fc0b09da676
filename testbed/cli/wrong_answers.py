"""The wrong answers that a check must refuse: if one of them passes, it proves little."""

from __future__ import annotations

from typing import Any

from testbed.child import Jobs
from testbed.cli.progress import counted_out
from testbed.teaching.checking import check
from testbed.teaching.ladder import wrong_answers
from testbed.teaching.level import LearnLevel
from testbed.words import counted


def passing_wrong(level: LearnLevel, *, seed: int, jobs: Jobs) -> dict[str, bool]:
    """By name, each wrong answer that is known, and whether it passes the check."""
    known = wrong_answers(level)

    def passes(number: int) -> bool:
        return check(level, known[number], seed=seed).passed

    found = counted_out("wrong answers", passes, len(known), jobs)
    return {each.__name__: passed for each, passed in zip(known, found, strict=True)}


def told_of_wrong(passing: dict[str, bool]) -> str:
    """The same in a line."""
    left = [name for name, passed in passing.items() if passed]
    if left:
        return f"✗ the check itself: it lets {', '.join(left)} pass, which is wrong"
    many = counted(len(passing), "wrong answer")
    return f"✓ the check itself: it refuses {many} of {len(passing)}"


def wrong_as_dict(passing: dict[str, bool]) -> dict[str, Any]:
    """The same as data."""
    return {"played": len(passing), "passing": [name for name, passed in passing.items() if passed]}
