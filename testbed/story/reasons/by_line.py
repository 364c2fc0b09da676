"""By line: its task saw the same, and without one line of the race it does not do that."""

from __future__ import annotations

from testbed.races.race import Hold, Strike
from testbed.story.believing import held_at, line_said
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.refusing import asked_again
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.twins.nearest import Twin


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`The clock of blue jumped (step 18); so red recorded works (step 28)`."""
    line = deed.twin.line
    said = line_said(slice_, line) if line is not None else ""
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
    said = line_said(slice_, line) if line is not None else ""
    if not said or slice_.violation is None:
        return None
    text = sentence(f"{said}; without that it would hold")
    who, did = (line.what.who, line.what.key) if isinstance(line, Hold) else ("", "")
    at = held_at(slice_, line.what) if isinstance(line, Hold) else 0
    return Cause(CauseShape.UNKNOWN, text, who, did, None, at or slice_.violation.step)
