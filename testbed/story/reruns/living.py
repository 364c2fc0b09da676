"""Living: plays a Run again as if a program had not crashed, to see whether a claim waited for it.

A program that is gone wrote nothing, so no trace shows what it would have done. The Run is played
again up to its crash, twice: with the crash the claim must break again, and without it all claims
must hold. From there on all else goes in the order of the Run, and later faults strike as they did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from testbed.chooser import CUT, Cut
from testbed.story.rerun import Rerun
from testbed.turns.happening import key_of
from testbed.turns.option import FAULT, Choice, Release
from testbed.turns.pending import Options
from testbed.turns.trace import Step, Trace


def is_waited_for(trace: Trace, crash: Step, claim: str) -> bool:
    """Whether that claim would hold if this crash had not come; False if that is not known."""
    make: Callable[[], Any] | None = getattr(trace.played_in, "again", None)
    if make is None or len(trace.choices) < crash.number:
        return False
    later = [key_of(step.option) for step in trace.steps[crash.number - 1 :] if step.kind == FAULT]
    if len(later) > len(set(later)):
        return False  # of two that are alike, it cannot be said when each is to strike
    lives, dies = _Living(trace, crash, has_crash=False), _Living(trace, crash, has_crash=True)
    return lives.breaks(make, claim) is False and dies.breaks(make, claim) is True


class _Living(Rerun):
    """Plays the Run again without that crash; or with it, to see that it breaks all the same."""

    name = "what comes of a program that lives on"
    turns_max: ClassVar[int] = 10_000

    def __init__(self, trace: Trace, crash: Step, *, has_crash: bool) -> None:
        super().__init__(trace, crash.number + has_crash, len(trace.steps))
        later = [step.option for step in trace.steps[crash.number :] if step.kind == FAULT]
        self._to_strike = {key_of(option) for option in later}

    def otherwise(self, options: Options) -> Choice | Cut:
        found: list[tuple[int, int, Choice]] = [*self._strikes(options)]
        found += [(self.place(each), 1, n) for n, each in enumerate(options.in_line())]
        found += [(self.place(each), 0, Release(n)) for n, each in enumerate(options.held)]
        if not found:
            return CUT
        choice = min(found, key=lambda each: each[:2])[2]
        self._note_strike(options, choice)
        return choice

    def strike(self, options: Options) -> int | None:
        fault = super().strike(options)
        if fault is not None or self.is_replaying:
            return fault
        first = min(self._strikes(options), default=None)
        if first is not None:
            fault = first[2]
            self._note_strike(options, fault)
        return fault

    def _strikes(self, options: Options) -> Iterator[tuple[int, int, int]]:
        """The faults that are still to strike, each with the Step at which it did."""
        for place, fault in enumerate(options.faults if self._to_strike else ()):
            if key_of(fault) in self._to_strike:
                yield self.place(fault), 1, options.ready + place

    def _note_strike(self, options: Options, choice: Choice) -> None:
        """A fault that strikes now is not to strike again."""
        if isinstance(choice, int) and choice >= options.ready:
            self._to_strike.discard(key_of(options[choice]))
