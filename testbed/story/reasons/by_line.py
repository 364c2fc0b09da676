"""By line: its task saw the same, and without one line of the race it does not do that."""

from __future__ import annotations

from testbed.races.race import Deviation, Hold, Strike
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.refusing import asked_again
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.twins.nearest import Twin
from testbed.turns.option import FAULT
from testbed.words import withheld


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`The clock of blue jumped (step 18); so red recorded works (step 28)`."""
    line = deed.twin.line
    said = _said(slice_, line) if line is not None else ""
    if not said:
        return None
    return Cause.of(CauseShape.UNKNOWN, deed.effect.act, sentence(f"{said}; so {head}"))


def alone(slice_: Slice, twin: Twin) -> Cause | None:
    """The same where no act is known that is not as in the twin."""
    line = twin.line
    if isinstance(line, Strike):
        for sent in slice_.requests.all:
            if sent.let_go and sent.why == line.fault.word:
                text = sentence(
                    f"{sent.actor}'s {sent.word} of {sent.key} {sent.unanswered}",
                    f"(step {sent.let_go}){asked_again(slice_, sent)}",
                )
                did = f"{sent.word} {sent.key}"
                return Cause(CauseShape.DID_IT_HAPPEN, text, sent.actor, did, None, sent.let_go)
    said = _said(slice_, line) if line is not None else ""
    if not said or slice_.violation is None:
        return None
    text = sentence(f"{said}; without that it would hold")
    who, did = (line.what.who, line.what.key) if isinstance(line, Hold) else ("", "")
    return Cause(CauseShape.UNKNOWN, text, who, did, None, slice_.violation.step)


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
