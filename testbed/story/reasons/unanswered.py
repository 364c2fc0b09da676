"""Unanswered: an earlier request of its actor got no answer, and it went on all the same."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…, not knowing that its create of … had taken effect at rv 2 (step 8): it got no answer`."""
    sent, act = deed.reason.sent, deed.effect.act
    if sent is None:
        return None
    went = f"it {sent.unanswered} (step {sent.let_go})"
    versions = slice_.knowledge.versions
    done = [v for c in sent.changes for v in versions.get(c.key, []) if v.change is c]
    if done and done[0].step < act.step:
        took = f"had taken effect at rv {done[0].revision} (step {done[0].step})"
        text = sentence(
            f"{head}, not knowing that its {sent.word} of {done[0].subject} {took}:", went
        )
        return Cause.of(CauseShape.DID_IT_HAPPEN, act, text, done[0])
    late = f"; that took effect later (step {done[0].step})" if done else ", and had no effect"
    text = sentence(f"{head} after its {sent.word} of {sent.key} {went[3:]}{late}")
    return Cause.of(CauseShape.DID_IT_HAPPEN, act, text, done[0] if done else None)
