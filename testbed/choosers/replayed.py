"""replayed: the choices of a recorded Run again, each checked against what it was then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.errors import ReplayDiverged
from testbed.turns.imprint import diverged, unlike_line
from testbed.turns.option import (
    FAULT,
    FEED,
    HOLD,
    PASS,
    RELEASE,
    SERVE,
    Choice,
    HoldBack,
    LetPass,
    Option,
    Release,
    is_from_outside,
)
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step
from testbed.words import counted

SHOWN_MAX = 6
"""The most Options that a divergence lists."""
MOVES_NOBODY = frozenset({SERVE, FEED, FAULT})
"""The kinds of turns in which no code of an actor runs: only the Store or a cursor moves."""


class Replayed(Chooser):
    """Plays one Run, from the lines of its trace that are choices."""

    def __init__(self, steps: tuple[dict[str, Any], ...], *, again: str) -> None:
        self.steps = steps
        self.again = again
        """What to do after a divergence, for its last line."""
        self._done = 0
        self._moved = "the scenario"
        """The actor that ran last."""

    def begin(self, run: RunInfo) -> Plan | None:
        self._done = 0
        self._moved = "the scenario"
        return Plan("replayed")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        # What came from outside is no choice: the Tape lets it join again.
        while self._done < len(self.steps) and self._is_outside():
            self._done += 1
        if self._done == len(self.steps):
            return CUT
        step = self.steps[self._done]
        self._done += 1
        if step["do"] == PASS:
            return LetPass(step["choice"])
        if step["do"] in (HOLD, RELEASE):
            return self._aside(step, options)
        choice, of, ready = step["choice"], step["of"], options.ready
        is_fault = choice >= of
        index: int = ready + choice - of if is_fault else choice
        is_there = ready == of and (not is_fault or index < len(options))
        if not is_there or not _is(options[index], step):
            raise ReplayDiverged(self._divergence(step, options))
        if step["do"] not in MOVES_NOBODY:
            self._moved = options[index].actor
        return index

    def _is_outside(self) -> bool:
        step = self.steps[self._done]
        return is_from_outside(step["do"], step["who"])

    def _aside(self, step: dict[str, Any], options: Options | Alternatives) -> HoldBack | Release:
        """Hold back, or release, what was held back or released then, if it is there now."""
        among: Sequence[Option] = ()
        if isinstance(options, Options):
            among = options[: options.ready] if step["do"] == HOLD else options.held
        index = step["choice"]
        was = {**step, "do": step.get("label"), "label": ""}
        if len(among) != step["of"] or index >= len(among) or not _is(among[index], was):
            raise ReplayDiverged(self._divergence(step, options))
        if step["do"] == RELEASE:
            return Release(index)
        until_ms = step.get("until_ms")
        return HoldBack(index, None if until_ms is None else until_ms - step["at"])

    def ended(self, step: Step) -> None:
        """Compare what the Step has shown with its line: what it read, wrote, was refused."""
        if step.number <= len(self.steps):
            said = unlike_line(self.steps[step.number - 1], step)
            if said:
                raise diverged(step, f"step {step.number}", said, self.again)

    def strike(self, options: Options) -> int | None:
        if self._done == len(self.steps) or self.steps[self._done]["do"] != FAULT:
            return None
        choice = self.choose(options)
        assert isinstance(choice, int)
        return choice

    def _divergence(self, step: dict[str, Any], options: Options | Alternatives) -> str:
        choice, of, ready = step["choice"], step["of"], options.ready
        names = ("do", "who", "verb", "key", "change", "label")
        sentence = " ".join(step[name] for name in names if step.get(name))
        took = f"option {choice} of {of} ({sentence})"
        now = f"{counted(ready, 'option')}:\n  {_listed(options[:ready])}"
        if choice >= of:
            took = f"fault {choice - of} beside {counted(of, 'option')} ({sentence})"
            faults = options.faults
            now += f"\nand {counted(len(faults), 'fault')}:\n  {_listed(faults)}"
        actor = step["who"].partition("/")[0]
        also = "" if step["do"] in (FEED, FAULT) or actor == self._moved else f", and in {actor}"
        return (
            f"at choice {self._done} of {len(self.steps)} the trace took {took}, but now there "
            f"{'is' if ready == 1 else 'are'} {now}\n"
            "Something outside the World decided, or the code has changed since. Look in "
            f"{self._moved}, which moved last{also}, for a set, a clock, an id() or `random`.\n"
            f"Next: {self.again}"
        )


def _listed(options: Sequence[Option]) -> str:
    shown = [f"{number} {option}" for number, option in enumerate(options[:SHOWN_MAX])]
    return " · ".join(shown + ["…"] * (len(options) > SHOWN_MAX)) or "none"


def _is(option: Option, step: dict[str, Any]) -> bool:
    """Whether an Option is what the trace has: the same sentence, and of a pick, the same label."""
    return (*option.sentence, option.label) == (
        step["do"],
        step["who"],
        step.get("verb", ""),
        step.get("key", ""),
        step.get("change", ""),
        step.get("nth", 1),
        step.get("label", ""),
    )
