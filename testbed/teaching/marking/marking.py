"""Marking itself: all answers of a class, each in a booth, as many at a time as there are jobs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from testbed.errors import HarnessBug
from testbed.teaching.ladder import levels
from testbed.teaching.marking.booth import Booth
from testbed.teaching.marking.limits import BoothLimits
from testbed.teaching.marking.mark import FAILED, MARKS, MISSING, NOT_DECIDED, AnswerMark, in_a_line
from testbed.teaching.marking.submissions import Submission, file_of

OnKept = Callable[[list[str]], None]
"""Told which guards were in force, of each answer that was played."""


def known_numbers() -> list[int]:
    """The numbers of all levels."""
    return [level.number for level in levels()]


def _tell_nothing(_: list[str]) -> None:
    """Do nothing: no one asks which guards were in force."""


def marked(
    handed_in: Iterable[Submission],
    *,
    seed: int,
    limits: BoothLimits,
    jobs: int = 1,
    on_kept: OnKept = _tell_nothing,
) -> Iterator[AnswerMark]:
    """Mark each, in the order given. The marks do not depend on the jobs."""
    free = SimpleQueue[Booth]()
    booths = [Booth(limits) for _ in range(jobs)]
    for each in booths:
        free.put(each)

    def mark(submission: Submission) -> tuple[AnswerMark, list[str]]:
        booth = free.get()
        try:
            return _mark(submission, booth, seed)
        finally:
            free.put(booth)

    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(mark, each) for each in handed_in]
        try:
            for one in waiting:
                given, kept = one.result()
                on_kept(kept)
                yield given
        finally:
            # Nothing is left running, also if it was interrupted.
            for one in waiting:
                one.cancel()
            for booth in booths:
                booth.kill()


def _mark(submission: Submission, booth: Booth, seed: int) -> tuple[AnswerMark, list[str]]:
    student, level = submission.student, submission.level
    if submission.problem:
        return _of(student, level, {"mark": FAILED, "reason": submission.problem}), []
    if submission.text is None:
        reason = f"there is no {file_of(level)}"
        reason += f", but {submission.instead}" if submission.instead else ""
        return _of(student, level, {"mark": MISSING, "reason": reason}), []
    try:
        told = booth.mark(level, submission.text, seed)
    except (HarnessBug, OSError, subprocess.SubprocessError) as error:
        # The marks of all others are worth having.
        reason = f"it could not be played here: {error}"
        return _of(student, level, {"mark": NOT_DECIDED, "reason": reason}), []
    return _of(student, level, told), told.get("kept", [])


def _of(student: str, level: int, told: dict[str, Any]) -> AnswerMark:
    """The mark, of what was told: it comes from a process in which a stranger's code ran."""
    mark, runs = told.get("mark"), told.get("runs", 0)
    return AnswerMark(
        student=student,
        level=level,
        mark=mark if mark in MARKS else FAILED,
        reason=in_a_line(str(told.get("reason", ""))),
        trial=in_a_line(str(told.get("trial", ""))),
        runs=runs if isinstance(runs, int) else 0,
        race=str(told.get("race", "")),
    )
