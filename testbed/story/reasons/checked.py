"""Checked: its server had looked at something before another changed it, and wrote after that."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.wording import changed, wrote


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`… on a check made before (step 5): …, between the check and the write`."""
    since = deed.reason.since
    if since is None:
        return None
    text = sentence(
        f"{head} on a check that its server had made before (step {deed.reason.step}):",
        wrote(since, "it" if since.key == deed.effect.key else ""),
        (changed(since.change), ""),
        (", between the check and the write", ""),
    )
    return Cause.of(CauseShape.OLD_NEWS, deed.effect.act, text, since)
