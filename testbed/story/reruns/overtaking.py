"""Overtaking: plays a Run again as if a write that came too late had come first.

The Run is played again up to where the server began with the act. There the late write is served,
and the rest goes on in the order of the Run. All claims must hold then, and this one break if
the same is played without that write. A Run with a later fault is not played: it may rest on that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.chooser import CUT, Cut
from testbed.story.requests import Sent
from testbed.story.rerun import Rerun
from testbed.turns.option import FAULT, SERVE, Choice, Option, Release
from testbed.turns.pending import Options
from testbed.turns.trace import Step, Trace


def prevented(trace: Trace, act: Sent, late: Sent, claim: str) -> str | None:
    """How the server would have refused the act, or empty if it would not, had the late write come
    before it; None if the claim would break all the same, or if that is not known."""
    make: Callable[[], Any] | None = getattr(trace.played_in, "again", None)
    fork = act.parts[0].number
    if make is None or len(trace.choices) < act.step:
        return None
    if any(step.kind == FAULT for step in trace.steps[fork - 1 :]):
        return None
    first, control = _Overtaking(trace, act, late), _Overtaking(trace, act, None)
    if first.breaks(make, claim) is not False or control.breaks(make, claim) is not True:
        return None
    return first.refused if first.came else None


class _Overtaking(Rerun):
    """Plays the Run again, and lets a late write come first; or the same without that."""

    name = "what comes of a write that was late"

    def __init__(self, trace: Trace, act: Sent, late: Sent | None) -> None:
        super().__init__(trace, act.parts[0].number, len(trace.steps))
        self._act, self._late = act, late
        self.came = False
        """Whether the late write took effect."""
        self.refused = ""
        """How the act was refused."""
        self._is_served = False
        """Whether the act has been served: its actor may ask the same again later."""

    def otherwise(self, options: Options) -> Choice | Cut:
        ready, held = options.in_line(), options.held
        if self._late is not None:
            for place, option in enumerate(held):
                if _is_of(self._late, option):
                    return Release(place)
            for place, option in enumerate(ready):
                if _is_of(self._late, option):
                    return place
        found = [(self.place(option), 1, n) for n, option in enumerate(ready)]
        found += [(self.place(option), 0, n) for n, option in enumerate(held)]
        if not found:
            return CUT
        _, is_ready, place = min(found)
        return place if is_ready else Release(place)

    def ended(self, step: Step) -> None:
        """Note what became of the two writes."""
        if self.has_left and step.kind == SERVE:
            if self._late is not None and _is_of(self._late, step.option):
                self.came = self.came or bool(step.marks.changes)
            elif not self._is_served and _is_of(self._act, step.option):
                self.refused = step.outcome
                self._is_served = bool(step.outcome or step.marks.changes)


def _is_of(sent: Sent, option: Option) -> bool:
    """Whether that serves a part of the request."""
    verb = option.verb.partition(".")[0]
    is_same = (option.path, verb, option.key) == (sent.path, sent.verb, sent.key)
    return option.kind == SERVE and is_same
