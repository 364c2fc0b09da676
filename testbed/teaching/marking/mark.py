"""Mark: what one answer of one student is worth, as a value that is the same on each machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs

from testbed.code.printable import in_line

PASSED, REFUSED, FAILED, MISSING = "passed", "refused", "failed", "missing"
NOT_DECIDED = "not decided"
MARKS = (PASSED, REFUSED, FAILED, MISSING, NOT_DECIDED)
REASON_MAX = 200
_ADDRESS = re.compile(r"0x[0-9A-Fa-f]{4,}")
_GAP = re.compile(r"\s+")


@attrs.frozen(kw_only=True)
class AnswerMark:
    """The mark of one answer: one row of the sheet."""

    student: str
    level: int
    mark: str
    """passed; refused, since a trial did not hold or it tried what is not allowed; failed, since it
    could not be played; missing; or not decided, since this machine or the testbed could not play
    it, which says nothing about it."""
    reason: str = ""
    """Why it has not passed, in words. No time, place or number of a process stands in it."""
    trial: str = ""
    """The trial that was refused."""
    runs: int = 0
    """How many Runs were played."""
    race: str = ""
    """The text of the race file of the Run that was refused; empty if there is none."""

    @property
    def file(self) -> str:
        """What the race file is called; empty if there is none."""
        return f"{self.student}-level_{self.level}.race.yaml" if self.race else ""

    def as_dict(self) -> dict[str, Any]:
        """The row as `--json` shows it."""
        return {
            "student": self.student, "level": self.level, "mark": self.mark,
            "reason": self.reason, "trial": self.trial, "runs": self.runs, "race": self.file,
        }  # fmt: skip


def in_a_line(text: str, folder: Path | None = None) -> str:
    """The text as a reason: on one line, not too long, with nothing that differs between machines:
    no address, and no path of the folder in which the answer was played."""
    if folder is not None:
        for path in (folder.resolve(), folder):
            text = text.replace(f"{path}/", "").replace(f"{path}\\", "")
    text = in_line(_GAP.sub(" ", _ADDRESS.sub("0x…", text)).strip())
    return text if len(text) <= REASON_MAX else text[: REASON_MAX - 1] + "…"
