"""Otherwise: its task went by what was so, and is not so in the Run that holds."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.wording import wrote


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…; it knew that kubelet-n1 …`, if that is known."""
    reason, act = deed.reason, deed.effect.act
    since, awaited = reason.since, reason.awaited
    if since is not None and since.actor != act.actor:
        text = sentence(f"{head}; it knew that {wrote(since)}")
        return Cause.of(CauseShape.UNKNOWN, act, text, since)
    if awaited is not None and reason.is_missing and awaited.actor != act.actor:
        text = sentence(f"{head} before {awaited.actor}'s {awaited.word} of {awaited.subject}")
        return Cause.of(CauseShape.UNKNOWN, act, text)
    return None
