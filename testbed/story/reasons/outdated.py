"""Outdated: its task went by what was no longer so when the act took effect."""

from __future__ import annotations

from testbed.story.believing import believing
from testbed.story.cause import Cause, CauseShape, before_its_own, sentence
from testbed.story.knowledge import StaleAct
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.wording import wrote


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…, believing that …, as it listed at rv 4 (step 5); false since …`."""
    act, reason = deed.effect.act, deed.reason
    known, since = reason.known, reason.since
    if since is None:
        return None
    if since.actor == act.actor and since.step > act.decided:
        text = sentence(
            f"{head} late: it had asked for that before its own {since.word} of it",
            f"at rv {since.revision} (step {since.step})",
        )
        return Cause.of(CauseShape.OLD_NEWS, act, text, since)
    if since.actor == act.actor:
        return Cause.of(CauseShape.OLD_NEWS, act, before_its_own(head, since), since)
    stale = StaleAct(act, known, (since,)) if known is not None else None
    if stale is not None and slice_.is_same_anyway(stale, since):
        return None
    if stale is None:
        text = sentence(f"{head}, not knowing of {reason.key}; {wrote(since, 'it')}")
        return Cause.of(CauseShape.OLD_NEWS, act, text, since)
    return believing(slice_, stale, since, head, reason.field)
