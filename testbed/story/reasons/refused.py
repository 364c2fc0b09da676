"""Refused: an earlier request of its actor was refused, which the twin's was not."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.refusing import refused
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`… after its update of … was refused, Conflict (step 9)`."""
    sent = deed.reason.sent
    if sent is None:
        return None
    text = sentence(f"{head} after {refused(slice_, sent)}")
    return Cause.of(CauseShape.HALF_DONE, deed.effect.act, text)
