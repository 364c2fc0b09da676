"""Reborn: its actor had died before, and the new life knew nothing of what the old one had."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.wording import did


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…, in a life that began after a crash (step 38); the one before had … at rv 7 (step 30)`."""
    act = deed.effect.act
    ends = [step for name, step in slice_.requests.ends if name == act.actor and step < act.step]
    if not ends:
        return None
    before = [
        version
        for other in slice_.knowledge.acts
        if other.actor == act.actor and other.step < ends[-1]
        for version in other.versions
    ]
    last = before[-1] if before else None
    had = (
        f"; the life before had {did(last)} at rv {last.revision} (step {last.step})"
        if last
        else ""
    )
    text = sentence(f"{head}, in a life that began after a crash (step {ends[-1]})", (had, ""))
    return Cause.of(CauseShape.HALF_DONE, act, text, last)
