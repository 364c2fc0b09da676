"""By line: its task saw the same, and without one line of the race it does not do that."""

from __future__ import annotations

from testbed.races.race import Deviation, Hold, Strike
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.turns.option import FAULT
from testbed.words import withheld


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`The clock of blue jumped (step 18); so red recorded works (step 28)`."""
    line = deed.twin.line
    said = _said(slice_, line) if line is not None else ""
    if not said:
        return None
    return Cause.of(CauseShape.UNKNOWN, deed.effect.act, sentence(f"{said}; so {head}"))


def _said(slice_: Slice, line: Deviation) -> str:
    """What a line of a race has done, in words; empty of a pick."""
    if isinstance(line, Strike):
        struck = [
            step
            for step in slice_.steps[: slice_.end]
            if step.kind == FAULT and step.option.fault == line.fault
        ]
        if not struck:
            return ""
        option = struck[-1].option
        return f"{option.fault.describe(option.key)} (step {struck[-1].number})"
    if isinstance(line, Hold):
        what = line.what
        late = withheld(what.kind, what.verb, what.key, f"{what.who}'s")
        return f"{late} was late, until {line.until_text}"
    return ""
