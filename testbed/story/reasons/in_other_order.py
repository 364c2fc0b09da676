"""In other order: its actor saw something later than in the twin, or not by then."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.wording import came


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…, before its news of pods/default/a came (step 41)`."""
    reason = deed.reason
    if reason.late is None:
        return None
    when = f" (step {reason.came})" if reason.came else ""
    text = sentence(f"{head}, before {came(reason.late)} came{when}")
    return Cause.of(CauseShape.HALF_DONE, deed.effect.act, text)
