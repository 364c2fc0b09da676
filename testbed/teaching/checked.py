"""Checked: what a check of an answer has shown, trial by trial, as a value."""

from __future__ import annotations

from typing import Any

import attrs

HELD, REFUSED, NOT_PLAYED = "held", "refused", "not played"


@attrs.frozen(kw_only=True)
class TriedTrial:
    """One trial of an answer, and what came of it."""

    name: str
    outcome: str
    """held, refused, or not played, since one before it was refused."""
    looked: str = ""
    """How far was looked."""
    runs: int = 0
    claim: str = ""
    """The claim that was breached; empty if none was, or the Run came to no end."""
    said: str = ""
    """What is wrong, in a sentence."""
    race: str = ""
    """The race file of the Run that did not hold; empty if no Run came so far."""
    story: str = ""
    """What happened in that Run: the cause, a diagram, a few sentences."""


@attrs.frozen(kw_only=True)
class CheckedAnswer:
    """A check of one answer."""

    level: int
    name: str
    """The scenario of the level."""
    program: str
    """The class that was checked."""
    seed: int
    """What the varied trials were drawn by."""
    trials: tuple[TriedTrial, ...]

    @property
    def passed(self) -> bool:
        """Whether each trial held."""
        return all(trial.outcome == HELD for trial in self.trials)

    @property
    def refused(self) -> TriedTrial | None:
        """The first trial that was refused; None if it has passed."""
        return next((each for each in self.trials if each.outcome == REFUSED), None)

    @property
    def runs(self) -> int:
        """How many Runs were played, not counting those that made the race small."""
        return sum(trial.runs for trial in self.trials)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data for JSON; the same for the same answer and seed."""
        return {**attrs.asdict(self), "passed": self.passed, "runs": self.runs}
