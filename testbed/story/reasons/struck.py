"""Struck: a fault had struck its actor before, which the twin does not have."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`… after red's clock was set forward by 20 s (step 12)`."""
    fault = slice_.causality.steps[deed.reason.step]
    what = fault.option.fault.describe(fault.option.key)
    text = sentence(f"{head}, after {what} (step {fault.number})")
    return Cause.of(CauseShape.HALF_DONE, deed.effect.act, text)
