"""Otherwise: its task went by what was so, and is not so in the Run that holds."""

from __future__ import annotations

from testbed.objects.meta import field_of
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.values import shown
from testbed.story.wording import wrote


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…; it knew that kubelet-n1 …`, if that is known."""
    reason, act = deed.reason, deed.effect.act
    since, awaited = reason.since, reason.awaited
    if awaited is not None and reason.is_missing and awaited.actor != act.actor:
        known = reason.known
        went = ""
        if known is not None and known.entry is not None and reason.field:
            value = shown(field_of(known.entry.value, reason.field))
            went = f", going by its {reason.field} {value}"
        text = sentence(
            f"{head} before {awaited.actor}'s {awaited.word} of {awaited.subject}", (went, "")
        )
        return Cause.of(CauseShape.UNKNOWN, act, text)
    if deed.twin.line is not None:
        return None  # what it knew was so: then it is the line that tells
    is_typed = since is None or not slice_.knowledge.has_read(since.actor, since.step)
    if since is not None and since.actor != act.actor and not is_typed:
        text = sentence(f"{head}; it knew that {wrote(since)}")
        return Cause.of(CauseShape.UNKNOWN, act, text, since)
    return None
